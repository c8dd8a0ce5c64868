/*
 * Kills processes that runs leave behind. Orphaned descendants become children of this process
 * (PR_SET_CHILD_SUBREAPER), which kills and reaps them.
 */
#ifndef EXPLORE_TARGET_ORPHANS_H
#define EXPLORE_TARGET_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on, orphaned descendants of this process become its children. */
void orphans_adopt(void);

/* Kills the process group with this leader. One system call, so it can be made after every run. */
void orphans_end_group(pid_t leader);

/*
 * Kills and reaps all children of this process that are not in `keep`, and their descendants. Reads
 * all of /proc, so it is too slow to be called after every run.
 */
void orphans_end_all(const pid_t *keep, size_t count);

/* Number of processes and threads on the machine, to detect fork bombs; 0 if unknown. */
unsigned orphans_tasks(void);

#endif

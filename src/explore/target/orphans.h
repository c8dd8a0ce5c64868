/*
 * Processes that runs leave behind. They become children of this process, and
 * are ended.
 */
#ifndef EXPLORE_TARGET_ORPHANS_H
#define EXPLORE_TARGET_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on, orphans below this process become its children. */
void strays_adopt(void);

/* The group a run was the leader of. Cheap: for after every run. */
void strays_end_group(pid_t leader);

/*
 * All children that are not among `keep`, with their descendants, and those that
 * have ended are reaped. Looks through /proc.
 */
void strays_end_all(const pid_t *keep, size_t count);

/* Processes and threads on the machine; 0 if unknown. To notice fork bombs. */
unsigned strays_tasks(void);

#endif

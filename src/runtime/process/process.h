/*
 * Start, fork, exec and end of a recorded process.
 */
#ifndef RUNTIME_PROCESS_PROCESS_H
#define RUNTIME_PROCESS_PROCESS_H

#include "runtime/core/options.h"

/* Creates the trace and the live memory; false if that failed (and was said). */
SNARLRT_HIDDEN bool snarlrt_process_open(const struct run_options *o);

/* Is there room on the disk for this part of the live memory? Ask before it is first touched. */
SNARLRT_HIDDEN bool snarlrt_live_room(const void *start, size_t size);

SNARLRT_HIDDEN void snarlrt_stash_forked(void);
SNARLRT_HIDDEN void snarlrt_modules_fork(bool begin);	/* around a fork */
SNARLRT_HIDDEN void snarlrt_modules_forked(void);
SNARLRT_HIDDEN void snarlrt_buffer_forked(void);

/* interpose_process.c: a system call that makes a child with memory of its own. */
SNARLRT_HIDDEN long snarlrt_fork_by_hand(long number, const long *v, const void *pc);

#endif

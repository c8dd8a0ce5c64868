/*
 * The trace file and the live memory of a recorded process.
 */
#ifndef RUNTIME_RECORD_TRACE_FILE_H
#define RUNTIME_RECORD_TRACE_FILE_H

#include "runtime/core/options.h"

/* Creates the trace and the live memory; false if that failed (and was said). */
SNARLRT_HIDDEN bool snarlrt_process_open(const struct run_options *o);

/* Is there room on the disk for this part of the live memory? Ask before it is first touched. */
SNARLRT_HIDDEN bool snarlrt_live_room(const void *start, size_t size);

/* Another program takes the place of this one: what is recorded goes to the file. */
SNARLRT_HIDDEN void snarlrt_before_exec(void);

/* EXIT is in the trace already. */
extern SNARLRT_HIDDEN bool snarlrt_exit_noted;

#endif

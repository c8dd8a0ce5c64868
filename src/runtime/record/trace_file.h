/* The trace file and the live memory of a recorded process. */
#ifndef RUNTIME_RECORD_TRACE_FILE_H
#define RUNTIME_RECORD_TRACE_FILE_H

#include "runtime/core/options.h"

/* Creates the trace and the live memory. False: that failed, and a warning was printed. */
SNARLRT_HIDDEN bool snarlrt_process_open(const struct run_options *o);

/* Whether the disk has room for this part of the live memory. Called before it is first touched. */
SNARLRT_HIDDEN bool snarlrt_live_room(const void *start, size_t size);

/* Before exec: writes to the trace what is recorded so far. */
SNARLRT_HIDDEN void snarlrt_before_exec(void);

/* Set when the EXIT event has been recorded. */
extern SNARLRT_HIDDEN bool snarlrt_exit_noted;

#endif

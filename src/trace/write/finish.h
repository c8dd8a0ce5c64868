/*
 * Finishes the trace of a process that has ended or was killed.
 *
 * What is left in the process's live memory (abi/live_memory.h) is added to the trace. The trace is
 * then rewritten: chunks sorted by thread and seq, compressed if it is large.
 */
#ifndef TRACE_WRITE_FINISH_H
#define TRACE_WRITE_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define FINISH_COMPRESS_MIN (64u << 10)	/* bytes of events; smaller traces are not compressed */

struct finish_stats {
	uint64_t stashed;	/* chunks taken from the stash and the outbox */
	uint64_t rings;		/* threads whose last events were taken from their ring */
	uint64_t blocked;	/* threads in a blocking call when the process ended */
	uint64_t damaged;	/* places in live memory that were not valid */
	uint64_t bytes_before, bytes_after;	/* of the trace file */
	bool rewritten;		/* false: no room on the disk for a copy; completed in place */
};

/*
 * Finishes a trace whose process has ended. `live_path` is a file or /proc/self/fd/N, or NULL if
 * there is no live memory. A trace without a whole header becomes one without events. After a
 * failure the trace is unchanged and may be finished again. *stats may be NULL.
 */
int finish_trace(const char *trace_path, const char *live_path, struct finish_stats *stats,
		 struct err *err);

#endif

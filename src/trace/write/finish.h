/*
 * After the recorded process has ended, or was killed: what is left in its live
 * memory goes into the trace, and the trace is put in its final form, sorted
 * and compressed.
 */
#ifndef TRACE_WRITE_FINISH_H
#define TRACE_WRITE_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define FINISH_COMPRESS_FROM (64u << 10)	/* bytes of events; smaller traces stay plain */

struct finish_stats {
	uint64_t stashed;	/* chunks taken from the stash */
	uint64_t rings;		/* threads whose last events were taken from their ring */
	uint64_t blocked;	/* threads that were waiting when it ended */
	uint64_t damaged;	/* places in live memory that could not be read */
	uint64_t bytes_before, bytes_after;	/* of the trace file */
	bool rewritten;		/* false: no room for a copy; completed in place */
};

/*
 * `live_path` may be /proc/self/fd/N, or NULL if there is none. The process must
 * be gone. A trace without even a header becomes one without events. On failure
 * the trace is as it was, and may be finished again. *stats may be NULL.
 */
int finish_trace(const char *trace_path, const char *live_path, struct finish_stats *stats,
		 struct err *err);

#endif

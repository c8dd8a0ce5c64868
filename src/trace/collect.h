/*
 * From what the runtime left behind to traces in their final place.
 */
#ifndef TRACE_COLLECT_H
#define TRACE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/sites/sites.h"

#define COLLECT_LOSSES 5	/* kinds of what a trace lacks */

/* One recorded process. */
struct collected_trace {
	char *path;		/* where it is now */
	uint32_t pid;
	uint64_t records, bytes;
	size_t threads;
	bool incomplete;	/* the process did not end in good order */
	bool running;		/* it still runs: left as it is */
	uint64_t losses[COLLECT_LOSSES];
	struct sites_effect sites;
};

struct collected_traces {
	struct collected_trace *items;	/* the program first, if it is there at all */
	size_t count, capacity;
};

/*
 * Finishes `work` (where the runtime was told to record, absolute), whose live
 * memory is live_fd, and the traces of other processes beside it; moves them to
 * `out` and out.PID. `left`: some may still run. No trace at all is no error.
 */
int collect_traces(struct collected_traces *t, const char *work, int live_fd, const char *out,
		   bool left, bool keep_live, struct err *err);
void collected_traces_free(struct collected_traces *t);

/* The key of a kind of loss, in the trace and in JSON. */
const char *collect_loss_key(unsigned kind);

#endif

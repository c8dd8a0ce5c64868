/*
 * Collects the traces of a recorded program and its child processes: finishes what the runtime
 * left behind and moves it to its final path.
 */
#ifndef TRACE_COLLECT_H
#define TRACE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/sites/sites.h"

#define COLLECT_LOSSES 5	/* kinds of losses: collect_loss_key() */

/* One recorded process. */
struct collected_trace {
	char *path;		/* of its trace */
	uint32_t pid;
	uint64_t records, bytes;
	size_t threads;
	bool incomplete;	/* the process was killed or crashed: no END chunk */
	bool running;		/* the process still runs; its trace was not touched */
	uint64_t losses[COLLECT_LOSSES];	/* number lost, by kind */
	struct sites_effect sites;	/* effect of the list of sites */
};

struct collected_traces {
	struct collected_trace *items;	/* the program's own trace is the first */
	size_t count, capacity;
};

/*
 * Finishes the trace `work`, an absolute path at which the runtime recorded, and the traces
 * work.PID of its child processes. Moves them to `out` and out.PID. live_fd is the live memory of
 * `work`, or -1; with keep_live, live memory is kept as out.live. With `may_run`, a trace whose
 * process still runs is not touched. A missing trace is no error.
 */
int collect_traces(struct collected_traces *t, const char *work, int live_fd, const char *out,
		   bool may_run, bool keep_live, struct err *err);
void collected_traces_free(struct collected_traces *t);

/* The name of a kind of loss, as a key of the trace and in JSON. */
const char *collect_loss_key(unsigned kind);

#endif

/*
 * The trace of a replay: the options that make the runtime record, and what the run
 * left behind brought into its final form.
 *
 *	replay_trace_open(&t, "trace.snarl", &err);
 *	config.options = t.options, config.exec = true;
 *	… one replay …
 *	replay_trace_close(&t, true, &err);
 */
#ifndef EXPLORE_SEARCH_REPLAY_TRACE_H
#define EXPLORE_SEARCH_REPLAY_TRACE_H

#include <stdbool.h>

#include "base/err.h"
#include "explore/schedule/schedule.h"
#include "explore/search/replay_schedule.h"
#include "symbol/program_sites.h"

#define REPLAY_VALUES_STEPS (1u << 20)	/* of longer runs no values are recorded: it takes a microsecond for each */

struct replay_trace {
	char *path, *work;	/* where it goes; where it is recorded */
	char *options;		/* for the runtime */
	int live;		/* the memory that outlives the run */
};

/* The folder of `path` must be there; `values`: of accesses, too. Close it in any case. */
int replay_trace_open(struct replay_trace *t, const char *path, bool values, struct err *err);

/* `keep`: the trace appears as `path`; else nothing is left of it. */
int replay_trace_close(struct replay_trace *t, bool keep, struct err *err);

/*
 * Replays `s` once more in a process of its own and records that. It has to do the
 * same, event by event, else there is no trace and *err says why. `values`: of accesses,
 * too, if it can be had.
 */
int replay_record(const struct replay_config *config, const struct schedule *s,
		  const struct places *places, const char *path, bool values, struct err *err);

#endif

/*
 * Records the trace of a replay: provides the options that make the runtime record, and finishes
 * the trace after the run.
 *
 *	replay_trace_open(&t, "trace.snarl", false, &err);
 *	config.options = t.options, config.exec = true;
 *	… make one replay with `config` …
 *	replay_trace_close(&t, true, &err);
 */
#ifndef EXPLORE_SEARCH_REPLAY_TRACE_H
#define EXPLORE_SEARCH_REPLAY_TRACE_H

#include <stdbool.h>

#include "base/err.h"
#include "explore/schedule/schedule.h"
#include "explore/search/replay_schedule.h"
#include "symbol/program_sites.h"

#define REPLAY_VALUES_STEPS (1u << 20)	/* most steps to record values of: 1 us each */

struct replay_trace {
	char *path;		/* final path of the trace, absolute */
	char *work;		/* temporary file beside it that the runtime writes */
	char *options;		/* SNARL_OPTIONS for the runtime */
	int live;		/* memfd for the runtime's live memory (abi/live_memory.h) */
};

/* The folder of `path` must exist. `values`: record the values of accesses. Always close it. */
int replay_trace_open(struct replay_trace *t, const char *path, bool values, struct err *err);

/* `keep`: finishes the trace and moves it to `path`. Otherwise deletes it. */
int replay_trace_close(struct replay_trace *t, bool keep, struct err *err);

/*
 * Replays `s` in a process of its own and records it to `path`. The replay has to match `s` event
 * by event; otherwise returns -1, and there is no trace. `values`: record the values of accesses;
 * falls back to a trace without them if the run is too long or the recording fails.
 */
int replay_record(const struct replay_config *config, const struct schedule *s,
		  const struct places *places, const char *path, bool values, struct err *err);

#endif

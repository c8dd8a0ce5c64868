/*
 * Profile runs: controlled runs that are recorded as traces, from which analyses predict
 * candidates.
 *
 * An event's number counts only visible events, and an access is visible only once its granule is
 * known to be shared. Callers therefore repeat profile runs until no new granule turns up: then an
 * event has the same number in the trace and in later runs.
 */
#ifndef EXPLORE_SEARCH_OBSERVE_H
#define EXPLORE_SEARCH_OBSERVE_H

#include "explore/search/search.h"

#define PROFILE_TURNS_MAX (1u << 20)	/* longer turn logs are not kept: 24 MB */

struct profile {
	struct sched_turn *turns;	/* exact schedule of the run; NULL if it was too long */
	size_t count;			/* of `turns` */
	/* Number of granules known at its start. A replay that knows others counts other steps. */
	size_t known;
	size_t input;		/* index in struct inputs; for the caller */
};

void profile_free(struct profile *p);

/* Fills in the strategy of profile run `run`: one of four that switch seldom, in turn. */
void profile_shape(uint64_t seed, uint64_t run, struct ctl_request *q);

/* Returns the turns of a run that just ended, to be freed; NULL if there are none or too many. */
struct sched_turn *profile_turns(const struct ctl_block *b, size_t *count);

/* How to make one profile run. */
struct profile_order {
	uint64_t run;		/* run number: selects the strategy by profile_shape() */
	bool by_strategy;	/* take strategy and switch_permille from the plan */
	const struct profile *again;	/* replay this earlier run instead; or NULL */
	bool keep_failing;	/* keep the trace of a failing run, too, if there is one */
	const char *path;	/* where the trace goes */
};

/*
 * Makes and records one run in a process of its own. It begins with the granules of config->memory
 * and adds those it finds, unless it is a replay (order->again). If the run fails, sets *failure,
 * and there is a trace only with keep_failing. Returns -1 if there is no trace for another reason.
 * `out` may be NULL; free *out in any case.
 */
int profile_trace(const struct search_config *config, const struct profile_order *order,
		  struct search_failure **failure, struct profile *out, struct err *err);

/*
 * Repeats a failure that found new shared granules: the first accesses to these are missing from
 * its events. Makes up to 12 runs until one fails in the same way without finding new granules.
 * Returns that run and frees `f`, or returns `f` if there is none. `memory` holds the granules that
 * `f` knew at its start; it receives those that the returned run knew.
 */
struct search_failure *profile_again(const struct search_config *config,
				     struct search_memory *memory, struct search_failure *f);

#endif

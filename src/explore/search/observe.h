/*
 * Runs that are watched: traces of controlled runs. They are recorded when it is known
 * which memory is shared, so that an event has the same number in them and in later runs.
 */
#ifndef EXPLORE_SEARCH_OBSERVE_H
#define EXPLORE_SEARCH_OBSERVE_H

#include "explore/search/search.h"

#define PROFILE_TURNS_MAX (1u << 20)	/* a run with more of them is no guide to others */

struct profile {
	struct sched_turn *turns;	/* what the run did; none if there were too many */
	size_t count;
	size_t known;		/* granules it began with: to others its steps mean the same only with these */
	size_t input;		/* of struct inputs; the caller's */
};

void profile_free(struct profile *p);

/* How run number `run` of the watched ones is scheduled: with few switches. */
void profile_shape(uint64_t seed, uint64_t run, struct ctl_request *q);

/* The turns of a run that has just ended, to be freed; NULL if there were too many. */
struct sched_turn *profile_turns(const struct ctl_block *b, size_t *count);

/* A run to be watched. */
struct profile_order {
	uint64_t run;		/* its number: profile_shape() */
	bool by_strategy;	/* by the strategy and switch_permille of the plan instead */
	const struct profile *again;	/* or a run that was made before, with the memory that it knew; or NULL */
	bool keep_failing;	/* also the trace of a run that failed, if it can be had */
	const char *path;	/* of the trace */
};

/*
 * Makes a run in a process of its own, with what config->memory knows, and records it. What the
 * run finds shared besides is added to that memory, unless it is made again. If the run failed,
 * *failure is set and there is no trace, unless keep_failing asks for it. -1 if there is no trace
 * for another reason. *out, which may be NULL, is to be freed in any case.
 */
int profile_trace(const struct search_config *config, const struct profile_order *order,
		  struct search_failure **failure, struct profile *out, struct err *err);

/*
 * For a run that failed while it found out what memory is shared: what happened to that memory
 * before is not among its events. Looks for a run with the same failure that knows all of the
 * shared memory. Returns that run in place of `f` if there is one, else `f`. `memory` has what the
 * run knew, of which only the granules count, and gets what the returned run knew.
 */
struct search_failure *profile_again(const struct search_config *config, struct search_memory *memory,
				     struct search_failure *f);

#endif

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

/* How the n-th of them is scheduled: with few switches. Fits search_config.shape but for ctx. */
void profile_shape(uint64_t seed, uint64_t run, struct ctl_request *q);

/* The turns of a run that has just ended, to be freed; NULL if there were too many. */
struct sched_turn *profile_turns(const struct ctl_block *b, size_t *count);

/*
 * Makes a run in a process of its own, with what `memory` knows, and records it to `path`:
 * the n-th of those above (by config->strategy, if config->by_strategy says so) or, if `again` has turns, one that another run made, with
 * the memory that one knew. What it finds shared besides is added to `memory`. If the run failed, *failure is set and there is no
 * trace, unless config->keep_failing asks for it and it can be had. -1 if there is none for another reason. *out, which may be NULL, is to be
 * freed in any case.
 */
int profile_trace(const struct search_config *config, struct search_memory *memory, uint64_t run,
		  const struct profile *again, const char *path, struct search_stats *stats,
		  struct search_failure **failure, struct profile *out, struct err *err);

/*
 * A run that failed while it found out what memory is shared: what happened there before is not among its
 * events. Looks for a run of the same failure that knows all of it, and takes that one instead if there is one;
 * else returns `f`. `memory` has what the run knew, of which granules alone count, and gets what this one does.
 */
struct search_failure *profile_again(const struct search_config *config, struct places *places,
				     struct search_memory *memory, struct search_failure *f);

#endif

/*
 * Tells whether a failure is that of every run: then no interleaving is its cause.
 */
#ifndef EXPLORE_SEARCH_EVERY_RUN_H
#define EXPLORE_SEARCH_EVERY_RUN_H

#include "explore/search/search.h"

/*
 * Makes runs by several strategies until one passes. True if none does and most of them fail as `f`
 * did; another failure may hide it in the others. *made: number of runs. `config` is that of a
 * search; its strategy, budget and memory are not used.
 */
bool every_run_fails(const struct search_config *config, const struct search_failure *f,
		     uint64_t *made);

#endif

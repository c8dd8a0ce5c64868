/*
 * Makes runs of the strategy `greedy`, each directed at all interleaving roots of a list.
 */
#ifndef EXPLORE_COVER_EXPOSE_GREEDY_H
#define EXPLORE_COVER_EXPOSE_GREEDY_H

#include "abi/iroot.h"
#include "explore/search/search.h"

struct expose_greedy;

/*
 * `roots`: at least one; their sites are pcs in the target. Sets the strategy of `config`, and the
 * size of plans.
 */
struct expose_greedy *expose_greedy_new(const struct iroot *roots, size_t count,
					struct search_config *config);
void expose_greedy_free(struct expose_greedy *g);

/*
 * To be called at SEARCH_BEGIN: writes the plan. Runs are numbered from `first` on, so that a later
 * search makes other runs.
 */
void expose_greedy_begin(const struct expose_greedy *g, uint64_t first,
			 const struct search_run *run);

#endif

/*
 * Runs of the strategy `greedy`, each for all of a list of interleaving roots.
 */
#ifndef EXPLORE_COVER_EXPOSE_GREEDY_H
#define EXPLORE_COVER_EXPOSE_GREEDY_H

#include "abi/iroot.h"
#include "explore/search/search.h"

/*
 * As search_run(), with the hooks of `config` but shape(). The sites of the roots are pcs in the target. Runs
 * are numbered from `first`, so that a later call makes others; none are made for no roots.
 */
int greedy_run(const struct search_config *config, const struct iroot *roots, size_t count, uint64_t first,
	       struct places *places, struct search_stats *stats, struct err *err);

#endif

/*
 * Runs of the strategy `greedy`, each for all of a list of interleaving roots.
 */
#ifndef EXPLORE_COVER_EXPOSE_GREEDY_H
#define EXPLORE_COVER_EXPOSE_GREEDY_H

#include "abi/iroot.h"
#include "explore/search/search.h"

struct expose_greedy;

/* The sites of the roots, at least one, are pcs in the target. Sets the strategy of `config`, and room for plans. */
struct expose_greedy *expose_greedy_new(const struct iroot *roots, size_t count, struct search_config *config);
void expose_greedy_free(struct expose_greedy *g);

/* At SEARCH_BEGIN. Runs are numbered from `first`, so that a later search makes other runs. */
void expose_greedy_begin(const struct expose_greedy *g, uint64_t first, const struct search_run *run);

#endif

/*
 * How many different interleavings a search has seen: the turn logs of its runs, by
 * their hashes.
 */
#ifndef EXPLORE_SEARCH_INTERLEAVINGS_SEEN_H
#define EXPLORE_SEARCH_INTERLEAVINGS_SEEN_H

#include "abi/control_block.h"
#include "base/map.h"

#define COVERAGE_MAX (4u << 20)	/* counted up to here */

struct coverage {
	struct map seen;
};

void coverage_free(struct coverage *c);

/* Of the interleaving of a run that has ended. */
uint64_t coverage_hash(const struct ctl_block *b);

/* A run has ended; returns how many different ones there were so far. */
uint64_t coverage_add(struct coverage *c, const struct ctl_block *b);

#endif

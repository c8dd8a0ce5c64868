/*
 * Counts the distinct interleavings of a search, as hashes of the runs' turn logs.
 */
#ifndef EXPLORE_SEARCH_INTERLEAVINGS_SEEN_H
#define EXPLORE_SEARCH_INTERLEAVINGS_SEEN_H

#include "abi/control_block.h"
#include "base/map.h"

#define COVERAGE_MAX (4u << 20)	/* counting stops here, to bound memory */

struct interleavings_seen {
	struct map seen;	/* set of hashes */
};

void interleavings_seen_free(struct interleavings_seen *c);

/* Hash of the interleaving of a run that ended. */
uint64_t interleavings_seen_hash(const struct ctl_block *b);

/* Adds a run that ended. Returns the number of distinct interleavings so far. */
uint64_t interleavings_seen_add(struct interleavings_seen *c, const struct ctl_block *b);

#endif

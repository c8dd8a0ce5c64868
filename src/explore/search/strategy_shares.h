/*
 * Which ways to search are worth more runs: those that lately switched between threads where
 * nobody had before. A run's switches are (who, before which of its steps, to whom).
 *
 * Runs are made in slices. What a slice has found counts when it is over, so that the order
 * in which its runs ended does not matter.
 */
#ifndef EXPLORE_SEARCH_STRATEGY_SHARES_H
#define EXPLORE_SEARCH_STRATEGY_SHARES_H

#include <stdbool.h>

#include "abi/control_block.h"
#include "base/map.h"
#include "explore/search/interleavings_seen.h"

#define FEEDBACK_WAYS 5u
#define FEEDBACK_SLICE_MOST 256u

struct feedback {
	struct map seen;		/* switches of all slices before */
	struct map fresh;		/* … of this one that are not among them */
	uint64_t runs[FEEDBACK_WAYS], found[FEEDBACK_WAYS];	/* of the slice before */
	uint8_t way[FEEDBACK_SLICE_MOST];	/* of each run of this slice */
	uint64_t slice;			/* its runs */
	uint64_t new_in[FEEDBACK_SLICE_MOST];	/* of each of them */
	uint64_t hash[FEEDBACK_SLICE_MOST];	/* of its interleaving; 0: it did not end */
	struct map interleavings;	/* of all slices before */
	uint64_t quiet;			/* runs since the last that had a new one */
	uint64_t longest;		/* … at most */
};

void feedback_free(struct feedback *f);

/* Begins a slice of so many runs, at most FEEDBACK_SLICE_MOST: says the way of each. */
void feedback_begin(struct feedback *f, uint64_t runs);

/* Run number `run` of the slice has ended, in any order. How many of its switches are new. */
uint64_t feedback_note(struct feedback *f, uint64_t run, const struct ctl_block *b);

/* The slice is over. How many new switches it had. */
uint64_t feedback_end(struct feedback *f);

#endif

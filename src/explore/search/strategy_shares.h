/*
 * Divides the runs of a search among several strategies. A slice is a number of runs in a row:
 * strategies that found more new switches in one slice get more runs of the next.
 *
 * A switch is (thread switched from, its number of steps so far, thread switched to). It is new if
 * no run of an earlier slice made it. Results count at the end of a slice, so the order in which
 * its runs end does not matter.
 *
 * Example: in a slice of 256 runs strategy 0 found 3 new switches in each of its runs, the other
 * four none. Each strategy keeps a tenth; strategy 0 gets the other half, too. Of the next 256 runs
 * it makes 60 %, about 154, each other strategy 10 %, about 26.
 */
#ifndef EXPLORE_SEARCH_STRATEGY_SHARES_H
#define EXPLORE_SEARCH_STRATEGY_SHARES_H

#include <stdbool.h>

#include "abi/control_block.h"
#include "base/map.h"
#include "explore/search/interleavings_seen.h"

#define FEEDBACK_WAYS 5u		/* strategies; the caller assigns the indices */
#define FEEDBACK_SLICE_MOST 256u	/* runs per slice: shares adapt at least that often */

struct feedback {
	struct map seen;		/* switches of all earlier slices */
	struct map fresh;		/* new switches of this slice */
	uint64_t runs[FEEDBACK_WAYS];	/* runs of each strategy in the previous slice */
	uint64_t found[FEEDBACK_WAYS];	/* new switches that these runs found */
	uint8_t way[FEEDBACK_SLICE_MOST];	/* strategy of each run of this slice */
	uint64_t slice;			/* number of runs of this slice */
	uint64_t new_in[FEEDBACK_SLICE_MOST];	/* new switches in each run */
	uint64_t hash[FEEDBACK_SLICE_MOST];	/* of each run's interleaving; 0: not ended */
	struct map interleavings;	/* hashes of the interleavings of all earlier slices */
	uint64_t runs_since_new;	/* number of runs since the last new interleaving */
	uint64_t longest;		/* largest value of `runs_since_new` so far */
};

void feedback_free(struct feedback *f);

/* Begins a slice of `runs` runs, at most FEEDBACK_SLICE_MOST, and chooses the strategy of each. */
void feedback_begin(struct feedback *f, uint64_t runs);

/* Adds run number `run` of the slice, in any order. Returns how many of its switches are new. */
uint64_t feedback_note(struct feedback *f, uint64_t run, const struct ctl_block *b);

/* Ends the slice. Returns the number of its new switches. */
uint64_t feedback_end(struct feedback *f);

#endif

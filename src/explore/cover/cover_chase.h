/*
 * Runs directed at predicted iRoots that no run has exposed:
 *
 *  1. profile runs by a mix of strategies, until they predict no new iRoots;
 *  2. runs by the strategy `greedy` for all untested iRoots, as long as they expose some;
 *  3. runs by the strategy `active`, up to MEMO_ATTEMPTS for each iRoot that is left.
 *
 * The stages are repeated as long as new iRoots are predicted.
 */
#ifndef EXPLORE_COVER_COVER_CHASE_H
#define EXPLORE_COVER_COVER_CHASE_H

#include "explore/cover/cover_record.h"
#include "explore/search/search.h"

/* Number of runs in a row without a new prediction that end profiling; the value is Maple's. */
#define COVER_CANDIDATES 3u

struct cover_chase {
	struct search_config search;	/* of all runs; needs `memory`, ignores the strategy */
	struct search_listener listener;
	/* Set by cover_chase_run(). */
	uint64_t profiled;	/* number of profile runs */
	uint64_t tried;		/* number of iRoots that runs were directed at */
	uint64_t exposed;	/* number of these that were exposed */
	uint64_t by_idiom[IROOT_IDIOMS + 1][2];	/* `tried` and `exposed` by idiom */
	bool over;		/* no untested iRoot is left */
};

/* -1 if the program cannot be run. */
int cover_chase_run(struct cover_chase *x, struct cover *c, struct err *err);

#endif

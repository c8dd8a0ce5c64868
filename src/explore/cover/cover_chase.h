/*
 * Chases what is untested: runs that show what to expect, until they show nothing more; then
 * runs of the active scheduler for each iRoot that was not exposed; and again, as long as these
 * let one expect more.
 */
#ifndef EXPLORE_COVER_COVER_CHASE_H
#define EXPLORE_COVER_COVER_CHASE_H

#include "explore/cover/cover_record.h"
#include "explore/search/search.h"

#define COVER_CANDIDATES 3u	/* runs without a new candidate that end profiling (Maple) */

struct cover_chase {
	struct search_config search;	/* of all; its memory is needed, its strategy is not used */
	struct search_listener listener;
	/* Set by cover_chase_run(). */
	uint64_t profiled;	/* runs that were to show what to expect */
	uint64_t tried, exposed;	/* iRoots that were chased; of them */
	uint64_t by_idiom[IROOT_IDIOMS + 1][2];	/* the same */
	bool over;		/* nothing is left */
};

/* -1 if the program cannot be run. */
int cover_chase_run(struct cover_chase *x, struct cover *c, struct err *err);

#endif

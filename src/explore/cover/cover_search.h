/*
 * Runs whose iRoots go into the database: by a mix of strategies, or by one.
 */
#ifndef EXPLORE_COVER_COVER_SEARCH_H
#define EXPLORE_COVER_COVER_SEARCH_H

#include "explore/cover/cover_record.h"
#include "explore/search/search.h"

struct cover_search {
	struct search_config search;	/* its strategy NULL: the mix */
	struct search_listener listener;	/* found NULL: failures are not reported */
	uint64_t saturation;	/* runs in a row without anything new that end it; 0: never */
	bool parallel;		/* without control: the program runs as it likes */
	bool candidates;	/* … only what was not even expected counts as new */
	/* Set by cover_search_run(). */
	uint64_t exposed, predicted;	/* new ones */
	uint64_t idle;		/* runs without anything new, at the end */
	uint64_t failed;	/* runs */
	bool saturated;
};

/* -1 if the program cannot be run. What runs exposed is in the database in any case. */
int cover_search_run(struct cover_search *s, struct cover *c, struct err *err);

#endif

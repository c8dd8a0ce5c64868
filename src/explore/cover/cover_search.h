/*
 * A search that adds the iRoots of its runs to the database, by a mix of strategies or by one.
 */
#ifndef EXPLORE_COVER_COVER_SEARCH_H
#define EXPLORE_COVER_COVER_SEARCH_H

#include "explore/cover/cover_record.h"
#include "explore/search/search.h"

struct cover_search {
	struct search_config search;	/* plan.strategy NULL: the mix */
	struct search_listener listener;	/* `found` NULL: failures are not reported */
	uint64_t saturation;	/* runs in a row without new iRoots that end the search; 0: never */
	bool parallel;		/* parallel runs: the system schedules the threads */
	bool predicted_only;	/* for saturation only new predictions count, not exposures */
	/* Set by cover_search_run(). */
	uint64_t exposed, predicted;	/* number of iRoots exposed, predicted for the first time */
	uint64_t without_new;	/* number of runs in a row, up to the last, without new iRoots */
	uint64_t failed;	/* number of runs that failed */
	bool saturated;		/* `saturation` ended the search */
};

/* -1 if the program cannot be run. The database has the iRoots of all runs made, in any case. */
int cover_search_run(struct cover_search *s, struct cover *c, struct err *err);

#endif

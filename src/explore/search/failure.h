/*
 * A run that failed, with all that is needed to make it again.
 */
#ifndef EXPLORE_SEARCH_FAILURE_H
#define EXPLORE_SEARCH_FAILURE_H

#include "explore/schedule/schedule.h"
#include "explore/search/oracle.h"
#include "explore/search/search_memory.h"
#include "explore/target/worker.h"

struct lead;

struct search_failure {
	uint64_t run;		/* from 0, of all runs in the statistics */
	uint64_t cause;		/* as the search was told by search_cause() */
	const struct lead *lead;	/* the predicted order that made it fail, or NULL; not owned */
	struct oracle_result result;
	struct ctl_report *report;	/* a copy */
	struct schedule schedule;	/* exact, with the target's surroundings */
	struct buf out, error;		/* what the program printed */
};

/* From a run that has just ended. */
struct search_failure *search_failure_new(const struct server *s, const struct search_memory *memory,
					  const struct oracle *oracle, uint64_t run,
					  const struct oracle_result *result);
/* With the surroundings of another failure; how the run went and ended is not known yet. */
struct search_failure *search_failure_like(const struct search_failure *like);
void search_failure_free(struct search_failure *f);

#endif

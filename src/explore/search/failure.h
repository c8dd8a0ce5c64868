/*
 * A failing run, with everything needed to replay it: the exact schedule, the target's arguments
 * and environment, the shared granules known at its start, and the oracle's expectations.
 */
#ifndef EXPLORE_SEARCH_FAILURE_H
#define EXPLORE_SEARCH_FAILURE_H

#include "explore/schedule/schedule.h"
#include "explore/search/oracle.h"
#include "explore/search/search_memory.h"
#include "explore/target/worker.h"

struct lead;

struct search_failure {
	uint64_t run;		/* run number, from 0, over all searches of these statistics */
	uint64_t cause;		/* set by search_cause(); 0: none */
	const struct lead *lead;	/* order that the run was to follow, or NULL; not owned */
	struct oracle_result result;
	struct ctl_report *report;	/* owned copy of the runtime's report */
	struct schedule schedule;	/* exact schedule of the run, and how to start the target */
	struct buf out, error;		/* stdout and stderr of the run */
};

/* Copies a run that just ended on `s`. `memory` is what was known when it began. */
struct search_failure *search_failure_new(const struct server *s,
					  const struct search_memory *memory,
					  const struct oracle *oracle, uint64_t run,
					  const struct oracle_result *result);
/* A failure with the target and oracle of `like`, but without a run: no turns, no result. */
struct search_failure *search_failure_like(const struct search_failure *like);
void search_failure_free(struct search_failure *f);

#endif

/*
 * Variations of a known failure (the attempts of explore/hunt/prove.c are others): runs with the
 * arguments, shared granules and oracle of a failing schedule, but with another plan. explore/bug
 * minimises failures and finds causes by such runs.
 *
 *	attempt_open(&a, &config, &schedule, &err);
 *	attempt_allow(&a, 100, 10.0);
 *	attempt_prepare(&a, "loose")->depth = …;
 *	attempt_plan(&a, turns, n, orders, k);
 *	if (attempt_run(&a))
 *		… the run failed: read a.got and server_report(&a.server) …
 *	attempt_close(&a);
 */
#ifndef EXPLORE_SEARCH_ATTEMPT_H
#define EXPLORE_SEARCH_ATTEMPT_H

#include "base/deadline.h"
#include "explore/search/oracle.h"
#include "explore/search/replay_schedule.h"

struct attempt_config {
	struct replay_config replay;
	const struct deadline *deadline;	/* of all runs; outlives the attempts */
};

struct attempt {
	struct attempt_config config;
	uint64_t seed, run, flags;	/* copied from the schedule */
	struct server server;
	struct oracle oracle;		/* expectations of the schedule */
	struct buf granules;		/* uint64_t[]: the schedule's shared granules */
	unsigned runs;		/* runs made so far */
	unsigned most;		/* limit of `runs` */
	struct deadline deadline;	/* of the runs allowed last; no run outlasts it */
	struct oracle_result got;	/* result of the last run */
	bool broken;		/* no run can be made any more; *err has the reason */
	struct err *err;	/* of attempt_open() */
};

/* `s` has to outlive `a`, which uses its check command. Close `a` in any case. */
int attempt_open(struct attempt *a, const struct attempt_config *config, const struct schedule *s,
		 struct err *err);
void attempt_close(struct attempt *a);

/* Allows `runs` more runs within the next `seconds`, and within config.deadline. */
void attempt_allow(struct attempt *a, uint64_t runs, double seconds);

/* Resets the request for a run by `strategy`. The caller may change it before attempt_run(). */
struct ctl_request *attempt_prepare(struct attempt *a, const char *strategy);

/* Copies the plan of the next run to the target. False: the plan area is too small. */
bool attempt_plan(struct attempt *a, const struct sched_turn *turns, size_t turn_count,
		  const struct sched_order *orders, size_t order_count);

/* Makes the run. True: it failed, as the known failure or otherwise; see a->got. */
bool attempt_run(struct attempt *a);

/* True: make no more runs. Number or time forbids it, or a->broken is set. */
bool attempt_over(const struct attempt *a);

#endif

/*
 * Runs around a failure that is known: the program as its schedule says, with the same
 * memory known to be shared and under the same oracle, but by another plan.
 *
 *	attempt_open(&a, &config, &schedule, &err);
 *	attempt_allow(&a, 100, 10.0);
 *	attempt_prepare(&a, "loose")->…; attempt_plan(&a, turns, n, orders, k);
 *	if (attempt_run(&a)) … a.got, server_report(&a.server) …
 *	attempt_close(&a);
 */
#ifndef EXPLORE_SEARCH_ATTEMPT_H
#define EXPLORE_SEARCH_ATTEMPT_H

#include <signal.h>

#include "explore/search/oracle.h"
#include "explore/search/replay_schedule.h"

struct attempt_config {
	struct replay_config replay;
	volatile sig_atomic_t *stop;	/* not 0: none any more; may be NULL */
	void (*progress)(void *ctx);	/* after each run; may be NULL */
	void *ctx;
};

struct attempt {
	struct attempt_config config;
	uint64_t seed, run, flags;	/* of the schedule */
	struct server server;
	struct oracle oracle;
	struct buf granules;
	unsigned runs;		/* made */
	unsigned most;		/* … of so many that are allowed */
	double until;		/* none is begun after that, by clock_seconds(); 0: no limit */
	struct oracle_result got;	/* of the last */
	bool broken;		/* no run can be made; *err of attempt_open() says why */
	struct err *err;
};

/* `s` has to stay as it is for its check command alone. Close it in any case. */
int attempt_open(struct attempt *a, const struct attempt_config *config, const struct schedule *s,
		 struct err *err);
void attempt_close(struct attempt *a);

/* So many more runs, and for so long; seconds 0: no limit. */
void attempt_allow(struct attempt *a, uint64_t runs, double seconds);

/* What the next run shall be; the rest of the request is the caller's to fill in. */
struct ctl_request *attempt_prepare(struct attempt *a, const char *strategy);

/* … and its plan; false if there is no room. */
bool attempt_plan(struct attempt *a, const struct sched_turn *turns, size_t turn_count,
		  const struct sched_order *orders, size_t order_count);

/* True: it failed, in whatever way. */
bool attempt_run(struct attempt *a);

/* No more runs, by number, time or wish. */
bool attempt_over(const struct attempt *a);

#endif

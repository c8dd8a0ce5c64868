/*
 * How a run directed by the strategy `goal` has fared. `state` is that of
 * strategy_goal; valid after a run until the next begin(), in any process that
 * has the state.
 */
#ifndef SCHED_GOAL_H
#define SCHED_GOAL_H

#include "sched/strategy.h"

#define GOAL_MAX_ORDERS 1024u	/* of a plan; what is beyond is not heeded */

/* What `depth` means to this strategy: how to go on when all orders came about. */
enum goal_then {
	GOAL_RUN_ON,	/* without preemption */
	GOAL_SWITCH,	/* to another thread at once, then without preemption */
	GOAL_RANDOM,	/* as before */
};

struct goal_result {
	uint32_t orders;	/* that were wanted */
	uint32_t met;		/* both events happened, in this order */
	uint32_t kept;		/* the first happened, and the second not before it */
	bool infeasible;	/* once everybody was held, and one had to be let go */
	bool truncated;		/* the plan has more orders than GOAL_MAX_ORDERS */
};

void goal_result(const void *state, struct goal_result *out);

#endif

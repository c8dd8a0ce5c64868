/*
 * How a run directed by the strategy `goal` has fared. `state` is that of
 * strategy_goal; valid after a run until the next begin(), in any process that
 * has the state.
 */
#ifndef SCHED_GOAL_H
#define SCHED_GOAL_H

#include "abi/plan.h"
#include "sched/strategy.h"

#define GOAL_MAX_ORDERS 1024u	/* of a plan; what is beyond is not heeded */
#define GOAL_HAPPENED UINT64_MAX	/* as the n-th time of an event: it did before the run begins here */

/* What `depth` means to this strategy: how to go on when all orders came about. */
enum goal_then {
	GOAL_RUN_ON,	/* without preemption */
	GOAL_SWITCH,	/* whoever came last in the pattern only while nobody else can */
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
void goal_result_of(const void *state, uint32_t from, uint32_t count, struct goal_result *out);

/*
 * A run that followed a plan's turns up to where a thread had to be held: after how many
 * steps, and the orders as a run sees them that begins there. False: it never came there.
 */
bool goal_rest(const void *state, uint64_t *steps, struct sched_order *out);

#endif

/*
 * What a run by the strategy `loose` was like. `state` is that of strategy_loose;
 * valid after a run until the next begin(), in any process that has the state.
 */
#ifndef SCHED_LOOSE_H
#define SCHED_LOOSE_H

#include "sched/strategy.h"

#define LOOSE_MAX_ORDERS 64u	/* of a plan; what is beyond is not looked at */

struct loose_result {
	uint64_t switches;	/* to another thread */
	uint64_t preemptions;	/* … of them, from one that could have gone on */
	uint32_t orders;	/* of the plan */
	uint32_t kept;		/* of them: the first event happened, and the second not before it */
	uint32_t broken;	/* … the second happened first */
};

void loose_result(const void *state, struct loose_result *out);

#endif

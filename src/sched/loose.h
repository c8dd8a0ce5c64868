/*
 * The result of a run by the strategy `loose`. `state` is that of strategy_loose. It is valid after
 * a run until the next begin(), in any process that maps it.
 */
#ifndef SCHED_LOOSE_H
#define SCHED_LOOSE_H

#include "sched/strategy.h"

#define LOOSE_MAX_ORDERS 64u	/* orders of a plan that are observed; the rest is ignored */

struct loose_result {
	uint64_t switches;	/* number of switches to another thread */
	uint64_t preemptions;	/* number of these from a thread that could have gone on */
	uint32_t orders;	/* number of orders of the plan */
	uint32_t kept;		/* number of these whose first event happened before any second */
	uint32_t broken;	/* number of these whose second event happened first */
};

void loose_result(const void *state, struct loose_result *out);

#endif

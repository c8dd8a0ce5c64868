/*
 * How a run directed by the strategy `goal` has fared.
 *
 * Example. Threads 0.1, 0.2 and 0.3 stand before these events; a lost update on x needs the order
 * A, C, B:
 *
 *	0.1   A: read x, then B: write x
 *	0.2   C: write x
 *	0.3   D, E: writes to y
 *
 *	order[0]   A before C
 *	order[1]   C before B
 *
 *	step   pending of 0.1, 0.2, 0.3   held                chosen
 *	0      A  C  D                    0.2 by order[0]     0.3: random walk among 0.1 and 0.3
 *	1      A  C  E                    0.2 by order[0]     0.1: random walk
 *	2      B  C  E                    0.1 by order[1]     0.2: may go on, so it does at once
 *	3      B  -  E                    none                0.1: may go on, so it does at once
 *	4      -  -  E                    none                all orders came about: enum goal_then
 *
 * Result: orders 2, met 2, kept 2.
 *
 * If instead 0.1 holds a lock m from A to B, and 0.2 takes m before C, a run may get to this state:
 * 0.1 is held before B, 0.2 is blocked at m, and 0.3 has ended. All runnable threads are held, so
 * the strategy gives up order[1] and lets 0.1 go. Result: orders 2, met 1, kept 1, infeasible.
 *
 * The parameter `state` below is the state of strategy_goal. It is valid after a run until the next
 * begin(), in any process that maps it.
 */
#ifndef SCHED_GOAL_H
#define SCHED_GOAL_H

#include "abi/plan.h"
#include "sched/strategy.h"

#define GOAL_MAX_ORDERS 1024u	/* orders of a plan that are enforced; the rest is ignored */
/* As sched_name.nth: the event happened before the point at which this run begins. */
#define GOAL_HAPPENED UINT64_MAX

/* How the run goes on when no order is open any more; sched_params.depth of this strategy. */
enum goal_then {
	GOAL_RUN_ON,	/* without preemption */
	/* The thread of the last event of the orders runs only while no other thread can. */
	GOAL_SWITCH,
	GOAL_RANDOM,	/* as a random walk */
};

struct goal_result {
	uint32_t orders;	/* number of orders of the plan, or of the range asked for */
	uint32_t met;		/* number of these whose events both happened, in this order */
	/* Number whose first event happened, and the second not before it. */
	uint32_t kept;
	/* An order was given up because all threads that could run were held. */
	bool infeasible;
	bool truncated;		/* the plan has more orders than GOAL_MAX_ORDERS */
};

/* The result of all orders; goal_result_of(): of `count` orders from index `from` on. */
void goal_result(const void *state, struct goal_result *out);
void goal_result_of(const void *state, uint32_t from, uint32_t count, struct goal_result *out);

/*
 * For a run that begins at a snapshot where this run stopped following the plan's turns because a
 * thread had to be held. Sets *steps to the number of steps up to there, and out[] to the plan's
 * orders, with visits before the snapshot subtracted. False: no thread had to be held during the
 * plan's turns, or the plan does not have `count` orders.
 */
bool goal_rest(const void *state, uint32_t count, uint64_t *steps, struct sched_order *out);

#endif

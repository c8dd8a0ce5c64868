/*
 * What the runtime needs of the strategy `exact` beside picking: the turns that
 * are not runs, and whether the run still follows the plan.
 *
 * pick() begins and finishes RUN turns. A turn of another kind lies between two
 * runs; whoever meets its occasion takes it: looks at it with exact_peek() or
 * exact_due() and, if it is the one expected, moves on with exact_advance().
 * Turns of kind CHOOSE are taken by choose(). A turn nobody took before pick()
 * needs the one after it means that the plan is lost.
 *
 * `state` is that of a strategy that `follows`, after its begin(). Only exact_lost() can be
 * asked where the plan itself is not mapped.
 */
#ifndef SCHED_EXACT_H
#define SCHED_EXACT_H

#include "abi/plan.h"
#include "sched/strategy.h"

/* Private; here for strategies that follow a plan first, whose state begins with it. */
struct exact {
	const struct sched_plan *plan;
	uint64_t next;		/* first turn not begun */
	uint64_t current;	/* the RUN turn under way, if steps are left */
	uint64_t left;		/* its steps not taken yet, as of `asked` */
	uint64_t asked;		/* step of the last question */
	uint64_t lost_at;
	uint64_t checked;	/* turns below were compared with what happened */
	bool lost;
};

/*
 * The first turn not begun; NULL at the end of the plan. The RUN turn before it
 * may still be under way: right during the last step of that, as when a signal
 * under way asks whom to wake.
 */
const struct sched_turn *exact_peek(const void *state);

/*
 * The same, but NULL as long as the RUN turn under way has steps left when `step`
 * steps have been executed: right between steps, as for time-outs.
 */
const struct sched_turn *exact_due(const void *state, uint64_t step);

/* The turn of exact_peek() is done. */
void exact_advance(void *state);

/* The caller found that the run cannot follow the first turn not begun. */
void exact_lose(void *state);

/* … the RUN turn under way: what it does is not the plan's. */
void exact_lose_here(void *state);

/* The run has left the plan; *turn: the index of the turn it could not follow. */
bool exact_lost(const void *state, uint64_t *turn);

/* What is left of the plan does not matter any more. */
void exact_end(void *state);

/* All turns were begun. */
bool exact_done(const void *state);

/* The name of the thread that has to take the next step; 0: the plan does not say. */
uint64_t exact_wants(const void *state, uint64_t step);

/* A RUN turn, the first not told of yet, ended after `steps` steps: are its events the plan's? */
bool exact_check(void *state, uint64_t steps, uint32_t check);

extern const struct strategy strategy_exact;

#endif

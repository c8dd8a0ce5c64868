/*
 * What the runtime needs of the strategy `exact` beside pick(): the turns that are no RUN turns,
 * and whether the run still follows the plan.
 *
 * pick() begins and finishes RUN turns. A turn of another kind (enum sched_turn_kind) is taken by
 * the part of the runtime that makes such a choice. That part looks at the turn with exact_peek()
 * or exact_due(). If the turn is of the expected kind, it acts and calls exact_advance(). If pick()
 * finds a turn that no part took, the run has diverged from the plan.
 *
 * `state` is that of a strategy with `follows`, after its begin(). Only exact_lost() may be called
 * in a process that does not map the plan.
 */
#ifndef SCHED_EXACT_H
#define SCHED_EXACT_H

#include "abi/plan.h"
#include "sched/strategy.h"

/* Private. The state of a strategy that follows a plan at first begins with this struct. */
struct exact {
	const struct sched_plan *plan;
	uint64_t next;		/* index of the first turn not begun */
	uint64_t current;	/* index of the RUN turn begun last */
	uint64_t left;		/* number of its steps left at `last_pick` */
	uint64_t last_pick;	/* step of the last pick() */
	uint64_t diverged_at;	/* if `diverged`: index of the turn that the run could not follow */
	uint64_t checked;	/* exact_check() has compared the turns below this index */
	bool diverged;
};

/*
 * The first turn not begun; NULL at the end of the plan. The RUN turn before it may have steps
 * left. To be called during a step, for example by a signal operation that chooses whom to wake.
 */
const struct sched_turn *exact_peek(const void *state);

/*
 * The first turn not begun; NULL while the current RUN turn has steps left after `step` steps, or
 * at the end of the plan. To be called between steps, for example for time-outs.
 */
const struct sched_turn *exact_due(const void *state, uint64_t step);

/* The turn of exact_peek() is done. */
void exact_advance(void *state);

/* Records that the run diverged: it cannot follow the first turn not begun. */
void exact_lose(void *state);

/* Records that the run diverged: its events in the current RUN turn are not the plan's. */
void exact_lose_here(void *state);

/* True if the run has diverged. *turn becomes the index of the turn that it could not follow. */
bool exact_lost(const void *state, uint64_t *turn);

/* Skips the rest of the plan and forgets a divergence. */
void exact_end(void *state);

/* True if all turns were begun. */
bool exact_done(const void *state);

/* Name of the thread that has to take the next step; 0: the plan does not say. */
uint64_t exact_wants(const void *state, uint64_t step);

/*
 * To be called when a RUN turn ends, for each in order. False: its number of steps, or the hash of
 * its events, is not the one in the plan. The run has then diverged.
 */
bool exact_check(void *state, uint64_t steps, uint32_t check);

extern const struct strategy strategy_exact;

#endif

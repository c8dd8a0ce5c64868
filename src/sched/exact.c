/*
 * Exact: takes the turns of a plan, one after the other. This is a replay. If the thread of a turn
 * cannot run, the run has diverged: the strategy remembers at which turn, and the run goes on
 * without preemption, as it does after the last turn.
 */
#include "sched/exact.h"
#include "sched/pick.h"

static uint64_t turn_count(const struct exact *e)
{
	return e->plan ? e->plan->turns : 0;
}

static uint64_t steps_left(const struct exact *e, uint64_t step)
{
	uint64_t taken = step > e->last_pick ? step - e->last_pick : 0;

	return taken < e->left ? e->left - taken : 0;
}

const struct sched_turn *exact_peek(const void *state)
{
	const struct exact *e = state;

	if (e->diverged || e->next >= turn_count(e))
		return NULL;
	return &sched_plan_turns(e->plan)[e->next];
}

const struct sched_turn *exact_due(const void *state, uint64_t step)
{
	return steps_left(state, step) ? NULL : exact_peek(state);
}

void exact_advance(void *state)
{
	struct exact *e = state;

	if (e->next < turn_count(e))
		e->next++;
}

static void diverge(struct exact *e, uint64_t turn)
{
	if (e->diverged)
		return;
	e->diverged = true;
	e->diverged_at = turn;
	e->left = 0;
}

void exact_lose(void *state)
{
	struct exact *e = state;

	diverge(e, e->next);
}

void exact_lose_here(void *state)
{
	struct exact *e = state;

	diverge(e, e->current);
}

bool exact_lost(const void *state, uint64_t *turn)
{
	const struct exact *e = state;

	if (e->diverged)
		*turn = e->diverged_at;
	return e->diverged;
}

bool exact_done(const void *state)
{
	const struct exact *e = state;

	return e->next >= turn_count(e);
}

void exact_end(void *state)
{
	struct exact *e = state;

	e->next = turn_count(e);
	e->left = 0;
	e->diverged = false;
}

uint64_t exact_wants(const void *state, uint64_t step)
{
	const struct exact *e = state;
	const struct sched_turn *turn;

	if (e->diverged)
		return 0;
	if (steps_left(e, step))
		return sched_plan_turns(e->plan)[e->current].name;
	turn = exact_peek(e);
	return turn && turn->kind == SCHED_TURN_RUN ? turn->name : 0;
}

bool exact_check(void *state, uint64_t steps, uint32_t check)
{
	struct exact *e = state;
	const struct sched_turn *turn = NULL;

	if (e->diverged)
		return true;
	while (e->checked < e->next && (!turn || turn->kind != SCHED_TURN_RUN))
		turn = &sched_plan_turns(e->plan)[e->checked++];
	if (!turn || turn->kind != SCHED_TURN_RUN || !turn->check)
		return true;
	/* After the plan's last turn its thread may have gone on, which is no divergence. */
	if (turn->steps != steps && e->checked == turn_count(e))
		return true;
	if (turn->steps == steps && turn->check == check)
		return true;
	diverge(e, e->checked - 1);
	return false;
}

static void exact_init(void *state, const struct sched_params *params)
{
	struct exact *e = state;

	e->plan = params->plan;
}

static void exact_begin(void *state, const struct sched_run *run)
{
	struct exact *e = state;

	(void)run;
	e->next = 0;
	e->left = 0;
	e->last_pick = 0;
	e->checked = 0;
	e->diverged = false;
}

/* Begins the next RUN turn unless one has steps left. False: the run cannot follow the plan. */
static bool begin_turn(struct exact *e)
{
	const struct sched_turn *turn;

	while (!e->left) {
		turn = exact_peek(e);
		if (!turn)
			return false;
		if (turn->kind != SCHED_TURN_RUN) {
			diverge(e, e->next);
			return false;
		}
		e->current = e->next++;
		e->left = turn->steps;
	}
	return true;
}

static void exact_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct exact *e = state;

	e->left = steps_left(e, point->step);
	e->last_pick = point->step;
	if (begin_turn(e)) {
		uint64_t name = sched_plan_turns(e->plan)[e->current].name;

		for (size_t i = 0; i < point->count; i++)
			if (point->name[point->runnable[i]] == name) {
				out->thread = point->runnable[i];
				out->steps = e->left;
				return;
			}
		diverge(e, e->current);
	}
	out->thread = pick_no_preemption(point);
	out->steps = SCHED_NO_LIMIT;
}

const struct strategy strategy_exact = {
	.name = "exact",
	.guided = "follows a schedule: use snarl replay",
	.follows = true,
	.summary = "the turns of a schedule file, one after the other",
	.state_size = sizeof(struct exact),
	.init = exact_init,
	.begin = exact_begin,
	.pick = exact_pick,
};

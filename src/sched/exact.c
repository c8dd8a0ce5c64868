/*
 * The turns of a plan, one after the other: replay. If the thread a turn asks for
 * cannot run, the plan is lost: that is remembered, and the run goes on without
 * preemption, as it does after the last turn.
 */
#include "sched/exact.h"
#include "sched/pick.h"

static uint64_t turns_of(const struct exact *e)
{
	return e->plan ? e->plan->turns : 0;
}

static uint64_t left_at(const struct exact *e, uint64_t step)
{
	uint64_t taken = step > e->asked ? step - e->asked : 0;

	return taken < e->left ? e->left - taken : 0;
}

const struct sched_turn *exact_peek(const void *state)
{
	const struct exact *e = state;

	if (e->lost || e->next >= turns_of(e))
		return NULL;
	return &sched_plan_turns(e->plan)[e->next];
}

const struct sched_turn *exact_due(const void *state, uint64_t step)
{
	return left_at(state, step) ? NULL : exact_peek(state);
}

void exact_advance(void *state)
{
	struct exact *e = state;

	if (e->next < turns_of(e))
		e->next++;
}

static void lose(struct exact *e, uint64_t turn)
{
	if (e->lost)
		return;
	e->lost = true;
	e->lost_at = turn;
	e->left = 0;
}

void exact_lose(void *state)
{
	struct exact *e = state;

	lose(e, e->next);
}

void exact_lose_here(void *state)
{
	struct exact *e = state;

	lose(e, e->current);
}

bool exact_lost(const void *state, uint64_t *turn)
{
	const struct exact *e = state;

	if (e->lost)
		*turn = e->lost_at;
	return e->lost;
}

bool exact_done(const void *state)
{
	const struct exact *e = state;

	return e->next >= turns_of(e);
}

void exact_end(void *state)
{
	struct exact *e = state;

	e->next = turns_of(e);
	e->left = 0;
	e->lost = false;
}

uint64_t exact_wants(const void *state, uint64_t step)
{
	const struct exact *e = state;
	const struct sched_turn *turn;

	if (e->lost)
		return 0;
	if (left_at(e, step))
		return sched_plan_turns(e->plan)[e->current].name;
	turn = exact_peek(e);
	return turn && turn->kind == SCHED_TURN_RUN ? turn->name : 0;
}

bool exact_check(void *state, uint64_t steps, uint32_t check)
{
	struct exact *e = state;
	const struct sched_turn *turn = NULL;

	if (e->lost)
		return true;
	while (e->checked < e->next && (!turn || turn->kind != SCHED_TURN_RUN))
		turn = &sched_plan_turns(e->plan)[e->checked++];
	if (!turn || turn->kind != SCHED_TURN_RUN || !turn->check)
		return true;
	/* Behind the plan's end the last turn may have gone on. */
	if (turn->steps != steps && e->checked == turns_of(e))
		return true;
	if (turn->steps == steps && turn->check == check)
		return true;
	lose(e, e->checked - 1);
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
	e->asked = 0;
	e->checked = 0;
	e->lost = false;
}

/* Begins the next RUN turn if none is under way; false: there is none to follow. */
static bool under_way(struct exact *e)
{
	const struct sched_turn *turn;

	while (!e->left) {
		turn = exact_peek(e);
		if (!turn)
			return false;
		if (turn->kind != SCHED_TURN_RUN) {
			lose(e, e->next);
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

	e->left = left_at(e, point->step);
	e->asked = point->step;
	if (under_way(e)) {
		uint64_t name = sched_plan_turns(e->plan)[e->current].name;

		for (size_t i = 0; i < point->count; i++)
			if (point->name[point->runnable[i]] == name) {
				out->thread = point->runnable[i];
				out->steps = e->left;
				return;
			}
		lose(e, e->current);
	}
	out->thread = pick_onward(point);
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

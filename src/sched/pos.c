/*
 * Partial order sampling (Yuan, Yang, Gu, CAV 2018): every pending event has a
 * random priority, the highest is executed, and the pending events that race
 * with it draw anew. So orders of racing events are drawn independently of each
 * other, however many steps lie between, and orders of independent events, which
 * nobody can see, do not skew them.
 */
#include "sched/pick.h"

struct pos {
	uint64_t seed;
	uint64_t rng;
	uint64_t asked;				/* step of the last question */
	uint32_t chosen;
	struct sched_event event;		/* what it was to execute */
	uint64_t priority[SCHED_MAX_THREADS];	/* of the pending event; 0: not drawn yet */
};

static void pos_init(void *state, const struct sched_params *params)
{
	struct pos *p = state;

	p->seed = params->seed;
}

static void pos_begin(void *state, const struct sched_run *run)
{
	struct pos *p = state;

	p->rng = pick_seed(p->seed, run->number);
	p->asked = SCHED_NO_LIMIT;
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		p->priority[i] = 0;
}

static void executed(struct pos *p, const struct sched_point *point)
{
	p->priority[p->chosen] = 0;
	for (uint32_t i = 0; i < point->threads; i++)
		if (p->priority[i] && sched_dependent(&p->event, &point->pending[i]))
			p->priority[i] = 0;
}

static uint64_t priority_of(struct pos *p, uint32_t thread)
{
	if (!p->priority[thread])
		p->priority[thread] = rng_next(&p->rng) | 1;
	return p->priority[thread];
}

static void pos_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct pos *p = state;
	bool leave = point->runs && !pick_may_stay(point);
	uint64_t best = 0;

	if (p->asked != SCHED_NO_LIMIT && point->step > p->asked)
		executed(p, point);
	/* Else two that spin would take turns while a low third never has its own. */
	for (size_t i = 0; point->yields && i < point->count; i++)
		p->priority[point->runnable[i]] = 0;
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];
		uint64_t priority = priority_of(p, thread);

		if (priority > best && !(leave && thread == point->running)) {
			best = priority;
			out->thread = thread;
		}
	}
	out->steps = 1;
	p->asked = point->step;
	p->chosen = out->thread;
	p->event = point->pending[out->thread];
}

static uint32_t pos_choose(void *state, uint32_t count)
{
	struct pos *p = state;

	return (uint32_t)rng_below(&p->rng, count);
}

const struct strategy strategy_pos = {
	.name = "pos",
	.summary = "random priority for every event, drawn anew after a race",
	.state_size = sizeof(struct pos),
	.init = pos_init,
	.begin = pos_begin,
	.pick = pos_pick,
	.choose = pos_choose,
};

/*
 * Partial order sampling, POS (Yuan, Yang, Gu, CAV 2018). Every pending event has a random
 * priority. The event with the highest priority is executed, and the pending events that depend on
 * it draw new priorities. The orders of dependent events are therefore drawn independently of each
 * other, however many steps lie between them. Orders of independent events, which have no effect,
 * do not bias them.
 */
#include "sched/pick.h"

struct pos {
	uint64_t seed;
	uint64_t rng;
	/* Step of the last pick(); SCHED_NO_LIMIT: none yet. */
	uint64_t last_pick;
	uint32_t chosen;			/* thread that it chose */
	struct sched_event event;		/* pending event of that thread */
	uint64_t priority[SCHED_MAX_THREADS];	/* of each pending event; 0: not drawn yet */
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
	p->last_pick = SCHED_NO_LIMIT;
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

	if (p->last_pick != SCHED_NO_LIMIT && point->step > p->last_pick)
		executed(p, point);
	/* Otherwise two spinning threads could alternate for ever, and a third never run. */
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
	p->last_pick = point->step;
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

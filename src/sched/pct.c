/*
 * Probabilistic concurrency testing, PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS
 * 2010). The runnable thread with the highest random priority runs. After each of depth - 1 random
 * steps, the priority of the thread that took the step drops to one of depth - 1 low values. A run
 * hits a bug that needs `depth` orders with a chance of at least
 * 1/(threads * length^(depth-1)).
 *
 * A thread that yields drops below all others. Otherwise a thread that spins until a thread of
 * lower priority does something would spin for ever.
 */
#include "sched/priority_drops.h"

struct pct {
	uint64_t seed;
	uint32_t depth;
	uint64_t rng;
	/* Priority of the last thread that yielded; decreasing. */
	int64_t lowest;
	struct priority_drops drops;
	int64_t priority[SCHED_MAX_THREADS];	/* 0: not drawn yet */
};

static void pct_init(void *state, const struct sched_params *params)
{
	struct pct *p = state;

	p->seed = params->seed;
	p->depth = drops_depth(params);
}

static void pct_begin(void *state, const struct sched_run *run)
{
	struct pct *p = state;

	p->rng = pick_seed(p->seed, run->number);
	p->lowest = 0;
	drops_draw(&p->drops, &p->rng, p->depth, run->length);
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		p->priority[i] = 0;
}

/* Initial priorities are above 2^32. Drops assign 1 to depth - 1, yields assign negative ones. */
static int64_t priority_of(struct pct *p, uint32_t thread)
{
	if (p->priority[thread] == 0)
		p->priority[thread] = (int64_t)(rng_next(&p->rng) >> 2 | 1ull << 32);
	return p->priority[thread];
}

static void pct_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct pct *p = state;
	uint32_t best = point->runnable[0], drop;

	while ((drop = drops_take(&p->drops, point->step)) < p->drops.count)
		p->priority[point->running] = drop + 1;
	if (point->yields)
		p->priority[point->running] = --p->lowest;
	for (size_t i = 0; i < point->count; i++)
		if (priority_of(p, point->runnable[i]) > priority_of(p, best))
			best = point->runnable[i];
	out->thread = best;
	out->steps = pick_steps(point, drops_next(&p->drops));
}

static uint32_t pct_choose(void *state, uint32_t count)
{
	struct pct *p = state;

	return (uint32_t)rng_below(&p->rng, count);
}

const struct strategy strategy_pct = {
	.name = "pct",
	.summary = "random priorities, and a few random steps at which one drops",
	.state_size = sizeof(struct pct),
	.init = pct_init,
	.begin = pct_begin,
	.pick = pct_pick,
	.choose = pct_choose,
};

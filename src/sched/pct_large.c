/*
 * PCT with priorities that are not strict ("PCT-Large", a baseline of Maple: Yu, Narayanasamy,
 * Pereira, Pokam, OOPSLA 2012). Threads have random priorities and depth - 1 random drops, as in
 * PCT. But a higher priority only gives a thread a larger share of the steps, as nice values do in
 * Linux. All threads make progress, and there are far more switches than in PCT.
 *
 * The thread of the next turn is drawn uniformly. The length of its turn is drawn uniformly up to
 * twice the thread's share. The unit of the shares is drawn for every run, between one step and
 * 1/64 of the run, because no single size suits all bugs.
 */
#include "sched/priority_drops.h"

#define LEVELS 20u	/* as nice values 0 to 19 */

struct pctlarge {
	uint64_t seed;
	uint32_t depth;
	uint64_t rng;
	uint64_t unit;				/* steps; the largest share is 4.3 units */
	uint64_t until;				/* step at which the turn ends */
	struct priority_drops drops;
	uint8_t level[SCHED_MAX_THREADS];	/* 0: not drawn yet; 1 is the lowest */
};

/* Mean steps of a turn. Each level has 5/4 of the share of the level below, as in Linux. */
static uint64_t share(const struct pctlarge *p, uint8_t level)
{
	uint64_t weight = 16;	/* in 1/256 of the unit; the highest level has 1094 */

	for (uint8_t i = 1; i < level; i++)
		weight += weight / 4;
	return 1 + weight * p->unit / 256;
}

static void pctlarge_init(void *state, const struct sched_params *params)
{
	struct pctlarge *p = state;

	p->seed = params->seed;
	p->depth = drops_depth(params);
}

static void pctlarge_begin(void *state, const struct sched_run *run)
{
	struct pctlarge *p = state;
	uint32_t sizes = 1;

	p->rng = pick_seed(p->seed, run->number);
	p->until = 0;
	/* A run has room for several of the longest turns, which take 9 units. */
	while (sizes < 40 && 64ull << sizes <= run->length)
		sizes++;
	p->unit = 1ull << rng_below(&p->rng, sizes);
	drops_draw(&p->drops, &p->rng, p->depth, run->length);
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		p->level[i] = 0;
}

static uint8_t level_of(struct pctlarge *p, uint32_t thread)
{
	if (!p->level[thread])
		p->level[thread] = (uint8_t)(1 + rng_below(&p->rng, LEVELS));
	return p->level[thread];
}

static void pctlarge_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct pctlarge *p = state;
	uint64_t next;

	while (drops_take(&p->drops, point->step) < p->drops.count) {
		p->level[point->running] = 1;
		/* The length of the turn was drawn for the old level. */
		p->until = point->step;
	}
	if (pick_may_stay(point) && point->step < p->until) {
		out->thread = point->running;
	} else {
		out->thread = point->step ? pick_other(point, &p->rng) : pick_any(point, &p->rng);
		p->until = point->step + 1 +
			   rng_below(&p->rng, 2 * share(p, level_of(p, out->thread)));
	}
	next = drops_next(&p->drops);
	out->steps = pick_steps(point, next < p->until ? next : p->until);
}

static uint32_t pctlarge_choose(void *state, uint32_t count)
{
	struct pctlarge *p = state;

	return (uint32_t)rng_below(&p->rng, count);
}

const struct strategy strategy_pctlarge = {
	.name = "pct-large",
	.summary = "like pct, but priorities only give longer turns",
	.state_size = sizeof(struct pctlarge),
	.init = pctlarge_init,
	.begin = pctlarge_begin,
	.pick = pctlarge_pick,
	.choose = pctlarge_choose,
};

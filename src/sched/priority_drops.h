/*
 * The random steps at which `pct` and `pct-large` lower the priority of the running thread.
 * Private to src/sched.
 */
#ifndef SCHED_PRIORITY_DROPS_H
#define SCHED_PRIORITY_DROPS_H

#include "sched/pick.h"

struct priority_drops {
	uint32_t count;			/* of `at` */
	uint64_t at[SCHED_MAX_DEPTH];	/* steps of the run, in no order; 0: this drop was taken */
};

/* Draws `depth` - 1 steps of a run of about `length` steps; `length` 0: not known yet. */
static inline void drops_draw(struct priority_drops *c, uint64_t *rng, uint32_t depth,
			      uint64_t length)
{
	if (!length)
		length = 1ull << (2 + rng_below(rng, 14));
	c->count = depth - 1;
	for (uint32_t i = 0; i < c->count; i++)
		c->at[i] = 1 + rng_below(rng, length);
}

/* Takes one drop that is due at `step`. Returns its index, or `count` if none is due. */
static inline uint32_t drops_take(struct priority_drops *c, uint64_t step)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->at[i] && c->at[i] <= step) {
			c->at[i] = 0;
			return i;
		}
	return c->count;
}

/* The step of the next drop; SCHED_NO_LIMIT if none is left. */
static inline uint64_t drops_next(const struct priority_drops *c)
{
	uint64_t next = SCHED_NO_LIMIT;

	for (uint32_t i = 0; i < c->count; i++)
		if (c->at[i] && c->at[i] < next)
			next = c->at[i];
	return next;
}

static inline uint32_t drops_depth(const struct sched_params *params)
{
	uint32_t depth = params->depth ? params->depth : 3;

	return depth < SCHED_MAX_DEPTH ? depth : SCHED_MAX_DEPTH;
}

#endif

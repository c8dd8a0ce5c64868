/*
 * The random steps at which PCT and its variant lower a thread's priority.
 * Private to src/sched.
 */
#ifndef SCHED_PRIORITY_DROPS_H
#define SCHED_PRIORITY_DROPS_H

#include "sched/pick.h"

struct changes {
	uint32_t count;
	uint64_t at[SCHED_MAX_DEPTH];	/* after this many steps, in no order; 0: has been */
};

/* `depth` - 1 of them in a run of about `length` steps; 0 if that is not known yet. */
static inline void changes_draw(struct changes *c, uint64_t *rng, uint32_t depth, uint64_t length)
{
	if (!length)
		length = 1ull << (2 + rng_below(rng, 14));
	c->count = depth - 1;
	for (uint32_t i = 0; i < c->count; i++)
		c->at[i] = 1 + rng_below(rng, length);
}

/* Takes one that is due at `step`; returns its number, or `count` if there is none. */
static inline uint32_t changes_take(struct changes *c, uint64_t step)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->at[i] && c->at[i] <= step) {
			c->at[i] = 0;
			return i;
		}
	return c->count;
}

/* The step of the next one. */
static inline uint64_t changes_next(const struct changes *c)
{
	uint64_t next = SCHED_NO_LIMIT;

	for (uint32_t i = 0; i < c->count; i++)
		if (c->at[i] && c->at[i] < next)
			next = c->at[i];
	return next;
}

static inline uint32_t changes_depth(const struct sched_params *params)
{
	uint32_t depth = params->depth ? params->depth : 3;

	return depth < SCHED_MAX_DEPTH ? depth : SCHED_MAX_DEPTH;
}

#endif

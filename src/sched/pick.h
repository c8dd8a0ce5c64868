/*
 * What strategies share: small choices among the runnable threads. Private to
 * src/sched. Integers only: a program's rounding mode must not matter, and the
 * mathematical library need not be linked.
 */
#ifndef SCHED_PICK_H
#define SCHED_PICK_H

#include "sched/rng.h"
#include "sched/strategy.h"

#define PICK_PERMILLE 100u	/* chance to leave the running thread, if not given */

/* A run's own random numbers: run 7 of seed 3 is the same whoever makes it. */
static inline uint64_t pick_seed(uint64_t seed, uint64_t number)
{
	uint64_t state = seed;
	uint64_t mixed = rng_next(&state);

	state = mixed ^ number;
	return rng_next(&state);
}

static inline uint32_t pick_permille(const struct sched_params *params)
{
	uint32_t permille = params->switch_permille ? params->switch_permille : PICK_PERMILLE;

	return permille < 1000 ? permille : 1000;
}

static inline bool pick_runnable(const struct sched_point *point, uint32_t thread)
{
	size_t low = 0, high = point->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (point->runnable[middle] < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low < point->count && point->runnable[low] == thread;
}

/* The next runnable thread after `thread`, round and round; itself if alone. */
static inline uint32_t pick_next(const struct sched_point *point, uint32_t thread)
{
	for (size_t i = 0; i < point->count; i++)
		if (point->runnable[i] > thread)
			return point->runnable[i];
	return point->runnable[0];
}

/* May the running thread go on? Not if it yields to somebody. */
static inline bool pick_may_stay(const struct sched_point *point)
{
	return point->runs && !(point->yields && point->count > 1);
}

/* Without a preemption: the running thread as long as it can. */
static inline uint32_t pick_onward(const struct sched_point *point)
{
	return pick_may_stay(point) ? point->running : pick_next(point, point->running);
}

/* Any of the runnable with the same chance; not the running one if there are others. */
static inline uint32_t pick_other(const struct sched_point *point, uint64_t *rng)
{
	uint64_t n;

	if (!point->runs || point->count == 1)
		return point->runnable[rng_below(rng, point->count)];
	n = rng_below(rng, point->count - 1);
	return point->runnable[n] < point->running ? point->runnable[n] : point->runnable[n + 1];
}

/* As above, but the running one too unless it yields. */
static inline uint32_t pick_any(const struct sched_point *point, uint64_t *rng)
{
	return point->yields ? pick_other(point, rng) : point->runnable[rng_below(rng, point->count)];
}

/*
 * How often one tries until an event of chance permille/1000 comes, at least 1:
 * the geometric distribution. The binary digits of the failures before it are
 * independent of each other; digit i is 1 with chance r/(1+r), r the chance of
 * 2^i failures in a row. So a dozen draws do, however long the run.
 */
static inline uint64_t pick_geometric(uint64_t *rng, uint32_t permille)
{
	const uint64_t one = 1ull << 62;
	uint64_t r = one / 1000 * (1000 - permille);
	uint64_t failures = 0;

	for (unsigned i = 0; r && i < 63; i++) {
		if (rng_below(rng, one + r) >= one)
			failures |= 1ull << i;
		r = (uint64_t)((unsigned __int128)r * r >> 62);
	}
	return 1 + failures;
}

/* Steps left until the absolute step `until`, which may be SCHED_NO_LIMIT; at least 1. */
static inline uint64_t pick_steps(const struct sched_point *point, uint64_t until)
{
	if (until == SCHED_NO_LIMIT)
		return SCHED_NO_LIMIT;
	return until > point->step ? until - point->step : 1;
}

#endif

/*
 * Choices among the runnable threads that several strategies share. Private to src/sched. All
 * arithmetic is on integers: the target's rounding mode must not matter, and the runtime is not
 * linked with libm.
 */
#ifndef SCHED_PICK_H
#define SCHED_PICK_H

#include "sched/rng.h"
#include "sched/strategy.h"

#define PICK_PERMILLE 100u	/* default chance per step to leave the running thread */

/* Seed of one run. It depends on nothing else, so any worker can make run 7 of seed 3. */
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

/* The runnable thread with the next higher number than `thread`, or the one with the lowest. */
static inline uint32_t pick_next(const struct sched_point *point, uint32_t thread)
{
	for (size_t i = 0; i < point->count; i++)
		if (point->runnable[i] > thread)
			return point->runnable[i];
	return point->runnable[0];
}

/* True if the running thread can run, and does not yield while others can run. */
static inline bool pick_may_stay(const struct sched_point *point)
{
	return point->runs && !(point->yields && point->count > 1);
}

/* Chooses without a preemption: the running thread as long as it can run. */
static inline uint32_t pick_no_preemption(const struct sched_point *point)
{
	return pick_may_stay(point) ? point->running : pick_next(point, point->running);
}

/* A uniform choice among the runnable threads, except the running one if there are others. */
static inline uint32_t pick_other(const struct sched_point *point, uint64_t *rng)
{
	uint64_t n;

	if (!point->runs || point->count == 1)
		return point->runnable[rng_below(rng, point->count)];
	n = rng_below(rng, point->count - 1);
	return point->runnable[n] < point->running ? point->runnable[n] : point->runnable[n + 1];
}

/* A uniform choice among the runnable threads, except the running one if it yields. */
static inline uint32_t pick_any(const struct sched_point *point, uint64_t *rng)
{
	return point->yields ? pick_other(point, rng) :
			       point->runnable[rng_below(rng, point->count)];
}

/*
 * Number of tries, at least 1, until an event of chance permille/1000 occurs: a draw from the
 * geometric distribution. The binary digits of the number of failures before it are independent of
 * each other: digit i is 1 with chance r/(1+r), where r is the chance of 2^i failures in a row. At
 * most 63 draws suffice, however large the number is.
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

/* Number of steps from now to step `until`, at least 1. `until` may be SCHED_NO_LIMIT. */
static inline uint64_t pick_steps(const struct sched_point *point, uint64_t until)
{
	if (until == SCHED_NO_LIMIT)
		return SCHED_NO_LIMIT;
	return until > point->step ? until - point->step : 1;
}

#endif

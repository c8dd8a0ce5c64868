/*
 * Random numbers for strategies: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). The state is eight
 * bytes, and every seed is good.
 */
#ifndef SCHED_RNG_H
#define SCHED_RNG_H

#include <stdint.h>

static inline uint64_t rng_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* A number below `limit`, which is at least 1. The bias is below limit/2^64. */
static inline uint64_t rng_below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)rng_next(state) * limit >> 64);
}

#endif

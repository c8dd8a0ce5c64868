/*
 * Hash functions for code of the runtime, which may not use libc or base/hash.h: the runtime
 * itself, strategies, the trace codec. Schedules, seeds and databases depend on their values.
 */
#ifndef ABI_MIX_H
#define ABI_MIX_H

#include <stdint.h>

#define MIX_FACTOR 0xbf58476d1ce4e5b9ull	/* from splitmix64 (sched/rng.h) */

/* Fibonacci hashing (Knuth, TAOCP 3, 6.4). Use the upper bits: the lower ones are not mixed. */
static inline uint64_t mix_spread(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull;
}

/* Extends the hash of a sequence by `value`. All bits of the result are mixed. */
static inline uint64_t mix_add(uint64_t hash, uint64_t value)
{
	hash = mix_spread(hash ^ value);
	return hash ^ hash >> 29;
}

/* mix_add() for small numbers: mix_add() itself might let them cancel each other out. */
static inline uint64_t mix_add_small(uint64_t hash, uint64_t value)
{
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return mix_add(hash ^ hash >> 32, value);
}

#endif

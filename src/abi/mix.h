/*
 * Hashes for the runtime, for strategies and for the codec that the runtime shares with the tool,
 * none of which may use libc or base/hash.h. Schedules, seeds and databases depend on their values.
 */
#ifndef ABI_MIX_H
#define ABI_MIX_H

#include <stdint.h>

#define MIX_FACTOR 0xbf58476d1ce4e5b9ull	/* of splitmix64 (rng.h) */

/* Fibonacci hashing (Knuth, TAOCP 3, 6.4): the upper bits are well mixed, and are those to take. */
static inline uint64_t mix_spread(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull;
}

/* The hash of what `hash` stands for, followed by `value`. All bits are good. */
static inline uint64_t mix_add(uint64_t hash, uint64_t value)
{
	hash = mix_spread(hash ^ value);
	return hash ^ hash >> 29;
}

/* mix_add() for small numbers, which must not cancel each other out. */
static inline uint64_t mix_add_small(uint64_t hash, uint64_t value)
{
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return mix_add(hash ^ hash >> 32, value);
}

#endif

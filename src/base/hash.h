/*
 * Hash functions. Files contain values of hash_bytes(), so they must never change.
 *
 * The runtime and sched/ may not include this file; they use abi/mix.h.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325ull	/* initial value for hash_bytes() */

/* FNV-1a, 64 bits: continues `hash` with `size` bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ p[i]) * 0x100000001b3ull;
	return hash;
}

/*
 * Fibonacci hashing (Knuth, TAOCP 3, 6.4). Use the upper bits: only they depend on all bits of
 * `key`.
 */
static inline uint64_t hash_spread(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull;
}

/* Continues `hash` with a number. All bits of the result are well mixed. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

/*
 * Mixes the upper half into the lower one, then all bits upwards. A bijection: no two values
 * collide.
 */
static inline uint64_t hash_scatter(uint64_t hash)
{
	return (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
}

#endif

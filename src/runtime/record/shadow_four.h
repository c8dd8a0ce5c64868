/* Access to four shadow words at a time, as one number of 64 bits. */
#ifndef RUNTIME_RECORD_SHADOW_FOUR_H
#define RUNTIME_RECORD_SHADOW_FOUR_H

#include "runtime/core/runtime.h"

/* The number of the granule that has this shadow word: its address / 8. */
static inline uint64_t shadow_granule(const uint16_t *s)
{
	return ((uint64_t)s - SHADOW_BASE) / 2;
}

/* Whether four aligned words begin at s, where `end` is the last word. */
static inline bool shadow_four_fit(const uint16_t *s, const uint16_t *end)
{
	return (uintptr_t)s % sizeof(uint64_t) == 0 && end - s >= 3;
}

static inline uint64_t shadow_load_four(const uint16_t *s)
{
	return __atomic_load_n((const uint64_t *)(const void *)s, __ATOMIC_RELAXED);
}

/* Changes four words from `from` to `to`. False: nothing was done, they had another value. */
static inline bool shadow_change_four(uint16_t *s, uint64_t from, uint64_t to)
{
	if (!snarlrt.threaded) {
		__atomic_store_n((uint64_t *)(void *)s, to, __ATOMIC_RELAXED);
		return true;
	}
	return __atomic_compare_exchange_n((uint64_t *)(void *)s, &from, to, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif

/*
 * The shadow, four granules at a time.
 */
#ifndef RUNTIME_RECORD_SHADOW_FOUR_H
#define RUNTIME_RECORD_SHADOW_FOUR_H

#include "runtime/core/runtime.h"

static inline uint64_t granule_of(const uint16_t *s)
{
	return ((uint64_t)s - SHADOW_BASE) / 2;
}

/* From s on, where `end` is the last one. */
static inline bool is_whole(const uint16_t *s, const uint16_t *end)
{
	return (uintptr_t)s % sizeof(uint64_t) == 0 && end - s >= 3;
}

static inline uint64_t load_four(const uint16_t *s)
{
	return __atomic_load_n((const uint64_t *)(const void *)s, __ATOMIC_RELAXED);
}

/* From one value to another, unless somebody was faster. */
static inline bool change_four(uint16_t *s, uint64_t from, uint64_t to)
{
	if (!snarlrt.threaded) {
		__atomic_store_n((uint64_t *)(void *)s, to, __ATOMIC_RELAXED);
		return true;
	}
	return __atomic_compare_exchange_n((uint64_t *)(void *)s, &from, to, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

#endif

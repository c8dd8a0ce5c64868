/*
 * The set of interleaving roots that the strategy `greedy` looks for: an open-addressing hash table
 * with hashes of the roots, of their dependencies and of roots that lack their last event. It is
 * part of the plan (sched_plan_open).
 */
#ifndef SCHED_GREEDY_H
#define SCHED_GREEDY_H

#include <stdbool.h>

#include "abi/iroot.h"
#include "abi/mix.h"

/* Hash of a dependency. Never 0, which marks an empty slot. */
static inline uint64_t greedy_dependency(const struct iroot_event *from,
					 const struct iroot_event *to)
{
	return mix_add(mix_add(from->site, to->site), from->access << 8 | to->access) | 1;
}

/* Hash of a root, from those of its dependencies; the second is 0 for idiom 1. */
static inline uint64_t greedy_root(uint64_t idiom, uint64_t first, uint64_t second)
{
	return mix_add(mix_add(idiom, first), second) | 1;
}

/* Hash of a root that lacks its last event: its first dependency, and first event of the second. */
static inline uint64_t greedy_partial(uint64_t idiom, uint64_t first,
				      const struct iroot_event *then)
{
	return mix_add(mix_add(mix_add(idiom + 8, first), then->site), then->access) | 1;
}

/* `slots`: size of the table, a power of two and larger than its number of entries, or 0. */
static inline bool greedy_has(const uint64_t *table, uint64_t slots, uint64_t hash)
{
	uint64_t at = hash >> 1 & (slots - 1);

	for (; slots && table[at]; at = (at + 1) & (slots - 1))
		if (table[at] == hash)
			return true;
	return false;
}

/* Number of slots of a table for `count` roots, for the tool. */
uint64_t greedy_slots(uint64_t count);

/* Adds a root to the table, which is all zero at first. */
void greedy_add(uint64_t *table, uint64_t slots, const struct iroot *root);

#endif

/*
 * The set of interleaving roots that the strategy `greedy` looks for: hashes of the roots and of their
 * dependencies in an open table, which lies in the plan (sched_plan_open).
 */
#ifndef SCHED_GREEDY_H
#define SCHED_GREEDY_H

#include <stdbool.h>

#include "abi/iroot.h"
#include "abi/mix.h"

/* Never 0, which is an empty place of the table. */
static inline uint64_t greedy_dependency(const struct iroot_event *from, const struct iroot_event *to)
{
	return mix_add(mix_add(from->site, to->site), from->access << 8 | to->access) | 1;
}

/* Of its dependencies; of idiom 1 the second is 0. */
static inline uint64_t greedy_root(uint64_t idiom, uint64_t first, uint64_t second)
{
	return mix_add(mix_add(idiom, first), second) | 1;
}

/* Of a root that lacks its last event: the first dependency, and where the second begins. */
static inline uint64_t greedy_partial(uint64_t idiom, uint64_t first, const struct iroot_event *then)
{
	return mix_add(mix_add(mix_add(idiom + 8, first), then->site), then->access) | 1;
}

/* `slots` is a power of two, and more than is in the table. */
static inline bool greedy_has(const uint64_t *table, uint64_t slots, uint64_t hash)
{
	uint64_t at = hash >> 1 & (slots - 1);

	for (; slots && table[at]; at = (at + 1) & (slots - 1))
		if (table[at] == hash)
			return true;
	return false;
}

/* Room that `count` roots need, for the tool. */
uint64_t greedy_slots(uint64_t count);

/* Into the table, which is zero at first. */
void greedy_add(uint64_t *table, uint64_t slots, const struct iroot *root);

#endif

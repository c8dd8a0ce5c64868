/*
 * For locks.c, which makes sets, and locks_pairs.c, which compares them: how they are kept.
 */
#ifndef ANALYZE_CONTEXT_LOCKSETS_INTERNAL_H
#define ANALYZE_CONTEXT_LOCKSETS_INTERNAL_H

#include "analyze/context/locksets.h"
#include "base/hash.h"

#define LOCKS_CACHE (1u << 15)
#define LOCKS_UNKNOWN (-2)
#define LOCKS_NESTED 4096u	/* a power of two */

struct locks_entry {
	uint64_t lock, pc;
	uint32_t history;	/* number in `histories` */
	uint32_t depth;		/* recursive acquisitions beyond the first */
	bool shared;
};

/* A run of elements in a pool. */
struct locks_span {
	size_t first;
	uint32_t count;
};

struct locks_step {
	uint64_t lock, pc;	/* pc ~0: a release */
	uint32_t set, result;	/* result 0 with `used`: the empty set */
	bool shared, used;
};

struct locks_pair {
	uint32_t a, b;		/* b > 0 if in use: the empty set is never asked about */
	bool exclude, compatible;
	int8_t needed[2];	/* of a by b, of b by a; -1: none, LOCKS_UNKNOWN until asked for */
};

struct locks_table {
	uint32_t *at;		/* numbers, plus 1 */
	size_t size;
};

struct locks {
	struct locks_entry *entries;
	size_t entry_count, entry_capacity;
	struct locks_span *sets;	/* 0 is the empty one */
	struct locks_ends *ends;	/* of each */
	size_t set_count, set_capacity, ends_capacity;
	uint64_t *elements;
	size_t element_count, element_capacity;
	struct locks_span *histories;
	size_t history_count, history_capacity;
	struct locks_table set_table, history_table;
	struct locks_step *steps;
	size_t step_count, step_size;
	struct locks_pair *cache;
	uint64_t nested[LOCKS_NESTED / 64];	/* bits by hash: locks that were taken within others */
};

static inline unsigned locks_nested_bit(uint64_t lock)
{
	return hash_spread(lock) >> 40 & (LOCKS_NESTED - 1);
}

#endif

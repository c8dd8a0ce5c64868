/*
 * Representation of locksets, for locksets.c, which makes them, and locksets_pairs.c, which
 * compares them.
 */
#ifndef ANALYZE_CONTEXT_LOCKSETS_INTERNAL_H
#define ANALYZE_CONTEXT_LOCKSETS_INTERNAL_H

#include "analyze/context/locksets.h"
#include "base/hash.h"

#define LOCKS_CACHE (1u << 15)	/* pairs of sets: 384 KiB */
#define LOCKS_UNKNOWN (-2)	/* in locks_pair.conflict: not computed yet */
#define LOCKS_NESTED 4096u	/* bits; a power of two */

/* A lock in a set. */
struct locks_member {
	uint64_t lock, pc;	/* pc: where it was acquired */
	uint32_t history;	/* index in `histories` */
	uint32_t depth;		/* recursive acquisitions beyond the first */
	bool shared;
};

/* Consecutive elements of an array. */
struct locks_span {
	size_t first;
	uint32_t count;
};

/* Memo of an acquisition or release: `set` becomes `result`. */
struct locks_transition {
	uint64_t lock, pc;	/* pc ~0: a release */
	uint32_t set, result;
	bool shared, used;
};

/* Memo of a comparison of two sets, with a < b. */
struct locks_pair {
	uint32_t a, b;		/* b 0: a free entry; the empty set is never looked up */
	bool exclude, compatible;
	int8_t conflict[2];	/* locks_needed(a, b) and of (b, a); -1: none */
};

/* A hash table of numbers plus 1. */
struct locks_table {
	uint32_t *at;
	size_t size;
};

struct locks {
	struct locks_member *members;	/* of all sets */
	size_t member_count, member_capacity;
	struct locks_span *sets;	/* spans of `members`; number 0 is the empty set */
	struct locks_ends *ends;	/* by number of the set */
	size_t set_count, set_capacity, ends_capacity;
	uint64_t *elements;		/* locks of all histories */
	size_t element_count, element_capacity;
	struct locks_span *histories;	/* spans of `elements`; number 0 is the empty history */
	size_t history_count, history_capacity;
	struct locks_table set_table, history_table;
	struct locks_transition *transitions;	/* a hash table */
	size_t transition_count, transition_size;
	struct locks_pair *cache;	/* direct-mapped, LOCKS_CACHE entries */
	uint64_t nested[LOCKS_NESTED / 64];	/* bits by hash: locks acquired under others */
};

static inline unsigned locks_nested_bit(uint64_t lock)
{
	return hash_spread(lock) >> 40 & (LOCKS_NESTED - 1);
}

#endif

/*
 * Interned locksets: which locks a thread holds, how (read or write), since which
 * critical section, and the acquisition history of each: the locks taken since it
 * was (algorithms.md §0). Equal sets have equal numbers, so that comparing a pair
 * is a table look-up after the first time.
 */
#ifndef ANALYZE_CONTEXT_LOCKSETS_H
#define ANALYZE_CONTEXT_LOCKSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define LOCKS_NONE 0u	/* the empty set */
#define LOCKS_ABSENT ((size_t)-1)

struct locks_held {
	uint64_t lock;
	bool shared;		/* a read lock */
	uint32_t depth;		/* times it was taken again since */
	uint64_t acquired_pc;
	const uint64_t *history;	/* locks taken since, ascending */
	size_t history_count;
};

struct locks;

struct locks *locks_new(void);
void locks_free(struct locks *l);

/*
 * What a thread's events do to its set; returns the new one. A lock that is held
 * already (recursive, or several read locks) has to be released as often.
 */
uint32_t locks_acquire(struct locks *l, uint32_t set, uint64_t lock, bool shared, uint64_t pc);
uint32_t locks_release(struct locks *l, uint32_t set, uint64_t lock);

size_t locks_count(const struct locks *l, uint32_t set);
void locks_at(const struct locks *l, uint32_t set, size_t i, struct locks_held *out);
bool locks_has(const struct locks *l, uint32_t set, uint64_t lock);

/* Its place for locks_at(), LOCKS_ABSENT if not in the set. Places keep their order. */
size_t locks_index(const struct locks *l, uint32_t set, uint64_t lock);

/* The same locks, taken at the same places, without acquisition histories. */
uint32_t locks_core(struct locks *l, uint32_t set);

/* A lock in both, not read-held in both: the two cannot be held at once. */
bool locks_exclude(struct locks *l, uint32_t a, uint32_t b);

/* In no set that was made until now is the lock within another; false: in some, or it is not known. */
bool locks_never_nested(const struct locks *l, uint64_t lock);

/*
 * Of a set what mostly says how it goes with another: the first and the last taken, and a bit for
 * each lock, by hash. Of the empty set all is 0, but for what is shared.
 */
struct locks_ends {
	uint64_t outer, inner;
	uint64_t outer_pc, inner_pc;	/* where they were taken */
	uint64_t held;			/* bits */
	uint64_t taken;			/* of those held, and of their histories */
	uint32_t count;
	uint32_t no_outer, no_inner;	/* for locks.c: the sets that are left without them, if known */
	bool outer_shared, inner_shared;
	bool again;			/* the outer one was taken again since */
};

/* This lock alone, once: without it nothing is held. */
static inline bool locks_only(const struct locks_ends *e, uint64_t lock)
{
	return e->count == 1 && e->outer == lock && !e->again;
}

static inline uint64_t locks_bit(uint64_t lock)
{
	return 1ull << (hash_spread(lock) >> 58);
}

/* By number of set; good until the next event. */
const struct locks_ends *locks_ends(const struct locks *l);

/* locks_index(): mostly it is the outermost or the innermost. */
static inline size_t locks_place(const struct locks *l, uint32_t set, uint64_t lock)
{
	const struct locks_ends *e = &locks_ends(l)[set];

	if (e->count <= 2)
		return e->count && e->outer == lock ? 0 : e->count == 2 && e->inner == lock ? 1 : LOCKS_ABSENT;
	return e->inner == lock ? e->count - 1 : locks_index(l, set, lock);
}

static inline bool locks_exclude_at_once(const struct locks_ends *a, const struct locks_ends *b)
{
	return (a->outer == b->outer && !(a->outer_shared && b->outer_shared)) ||
	       (a->inner == b->inner && !(a->inner_shared && b->inner_shared));
}

/*
 * Acquisition histories allow that one thread is in `a` and another in `b` at one
 * moment. Of its own it does not look for common locks.
 */
bool locks_compatible(struct locks *l, uint32_t a, uint32_t b);

/* A thread on its way to `set` takes the lock, in a mode that excludes this one. */
bool locks_takes(const struct locks *l, uint32_t set, uint64_t lock, bool shared);

/*
 * A thread on its way to set `b` takes locks that exclude some in `a`: the place of the
 * outermost of these in `a`, if among the first LOCKS_OUTER; else LOCKS_ABSENT.
 */
#define LOCKS_OUTER 4u
size_t locks_needed(struct locks *l, uint32_t a, uint32_t b);

/* Where that one was taken, or `pc` if there is none: the place to stop at before `a`. */
uint64_t locks_entry_between(struct locks *l, uint32_t a, uint32_t b, uint64_t pc);

/* The same; `ends` is locks_ends(). Mostly they have no lock in common, or one at the same end. */
static inline uint64_t locks_entry(struct locks *l, const struct locks_ends *ends, uint32_t a,
				   uint32_t b, uint64_t pc)
{
	const struct locks_ends *x = &ends[a], *y = &ends[b];

	if (!(x->held & y->taken))
		return pc;
	if (x->outer == y->outer && !(x->outer_shared && y->outer_shared))
		return x->outer_pc;
	if (x->count == 2 && x->inner == y->inner && !(x->inner_shared && y->inner_shared) &&
	    !(locks_bit(x->outer) & y->taken))
		return x->inner_pc;
	return locks_entry_between(l, a, b, pc);
}

#endif

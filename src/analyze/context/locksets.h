/*
 * Interned locksets: the locks that a thread holds, in the order of acquisition. For each lock:
 * its mode (read or write), where it was acquired, how often again since, and its acquisition
 * history, the locks acquired since then (PENELOPE: Sorrentino et al., FSE 2010). Equal sets have
 * equal numbers, so that comparing two sets is a table look-up after the first time.
 *
 * Example. Thread A acquires locks at sites p1 and p2, thread B at p3 and p4. Numbers are given in
 * the order in which sets first occur.
 *
 *   event       lockset of the thread            number
 *   (start)     {}                               0
 *   A lock m    {m@p1}                           1
 *   A lock n    {m@p1 history [n], n@p2}         2
 *   A unlock n  {m@p1 history [n]}               3     not 1: n was acquired under m
 *   A unlock m  {}                               0
 *   B lock n    {n@p3}                           4
 *   B lock m    {n@p3 history [m], m@p4}         5
 *   B unlock m  {n@p3 history [m]}               6
 *   A lock m    {m@p1}                           1
 *
 *   locks_exclude(2, 4)     true: both contain n
 *   locks_exclude(3, 6)     false: no common lock
 *   locks_compatible(3, 6)  false: no run can be in both at once. A would have acquired n under m,
 *                           and B m under n, so one of them would have come first and blocked the
 *                           other.
 *   locks_needed(1, 5)      0: on its way to set 5, B acquires m, lock number 0 of set 1
 *   locks_core(3)           1: the histories are left out
 */
#ifndef ANALYZE_CONTEXT_LOCKSETS_H
#define ANALYZE_CONTEXT_LOCKSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define LOCKS_NONE 0u	/* the empty set */
#define LOCKS_ABSENT ((size_t)-1)

/* A lock of a set, as locks_at() describes it. */
struct locks_held {
	uint64_t lock;
	bool shared;		/* a read lock */
	uint32_t depth;		/* times it was acquired again since */
	uint64_t acquired_pc;
	const uint64_t *history;	/* locks acquired since, ascending */
	size_t history_count;
};

struct locks;

struct locks *locks_new(void);
void locks_free(struct locks *l);

/*
 * The set after an acquisition or release. A lock that is acquired again while it is held
 * (recursive, or several read locks) has to be released as often.
 */
uint32_t locks_acquire(struct locks *l, uint32_t set, uint64_t lock, bool shared, uint64_t pc);
uint32_t locks_release(struct locks *l, uint32_t set, uint64_t lock);

size_t locks_count(const struct locks *l, uint32_t set);

/* Describes the i-th lock of the set, in the order of acquisition. */
void locks_at(const struct locks *l, uint32_t set, size_t i, struct locks_held *out);
bool locks_has(const struct locks *l, uint32_t set, uint64_t lock);

/* The index of a lock in the set, for locks_at(); LOCKS_ABSENT if the set does not contain it. */
size_t locks_index(const struct locks *l, uint32_t set, uint64_t lock);

/* The same locks, modes and sites, without acquisition histories. */
uint32_t locks_core(struct locks *l, uint32_t set);

/* Whether two threads cannot hold `a` and `b` at once: one set write-holds a common lock. */
bool locks_exclude(struct locks *l, uint32_t a, uint32_t b);

/* True: no set so far has the lock acquired under another. False may be a hash collision. */
bool locks_never_nested(const struct locks *l, uint64_t lock);

/*
 * Summary of a set that decides most comparisons: its first and last lock, and a bit for each lock
 * by hash. Of the empty set all members are 0, except that both ends count as shared.
 */
struct locks_ends {
	uint64_t outer, inner;		/* the lock acquired first, and last */
	uint64_t outer_pc, inner_pc;	/* where they were acquired */
	uint64_t held;			/* locks_bit() of the locks in the set */
	uint64_t taken;			/* locks_bit() of these locks and all in their histories */
	uint32_t count;			/* of locks in the set */
	uint32_t without_outer, without_inner;	/* memo: the sets after locks_release() of it */
	bool outer_shared, inner_shared;
	bool again;			/* the outer lock was acquired again since */
};

/* Whether the set is this lock, acquired once: releasing it leaves the empty set. */
static inline bool locks_only(const struct locks_ends *e, uint64_t lock)
{
	return e->count == 1 && e->outer == lock && !e->again;
}

static inline uint64_t locks_bit(uint64_t lock)
{
	return 1ull << (hash_spread(lock) >> 58);
}

/* Array by number of the set; valid until the next set is made. */
const struct locks_ends *locks_ends(const struct locks *l);

/* locks_index(), fast if the lock is the outermost or innermost of the set. */
static inline size_t locks_place(const struct locks *l, uint32_t set, uint64_t lock)
{
	const struct locks_ends *e = &locks_ends(l)[set];

	if (e->count <= 2)
		return e->count && e->outer == lock ? 0 :
		       e->count == 2 && e->inner == lock ? 1 : LOCKS_ABSENT;
	return e->inner == lock ? e->count - 1 : locks_index(l, set, lock);
}

/* True if the outermost or the innermost locks already say that the sets exclude each other. */
static inline bool locks_exclude_at_once(const struct locks_ends *a, const struct locks_ends *b)
{
	return (a->outer == b->outer && !(a->outer_shared && b->outer_shared)) ||
	       (a->inner == b->inner && !(a->inner_shared && b->inner_shared));
}

/*
 * Whether acquisition histories allow one thread to be in `a` while another is in `b`. Common locks
 * are not considered: see locks_exclude().
 */
bool locks_compatible(struct locks *l, uint32_t a, uint32_t b);

/*
 * Whether a thread that comes to `set` acquires the lock on the way, in a mode that excludes mode
 * `shared`.
 */
bool locks_takes(const struct locks *l, uint32_t set, uint64_t lock, bool shared);

/*
 * The index in `a` of its outermost lock that another thread acquires on the way to `b`, in a mode
 * that excludes this thread's. LOCKS_ABSENT: none of the LOCKS_OUTER outermost locks of `a` is one.
 */
#define LOCKS_OUTER 4u
size_t locks_needed(struct locks *l, uint32_t a, uint32_t b);

/* locks_entry() for the cases that the summaries do not decide. */
uint64_t locks_entry_between(struct locks *l, uint32_t a, uint32_t b, uint64_t pc);

/*
 * Where to stop a thread at `pc` with set `a`, so that another thread can come to set `b` first:
 * at the acquisition of lock number locks_needed(a, b) of `a`, or at `pc` if there is none. `ends`
 * is locks_ends(). Fast if the sets have no lock in common, or one at the same end.
 */
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

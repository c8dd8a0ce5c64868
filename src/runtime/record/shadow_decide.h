/*
 * Decides undecided accesses: those whose memory has become shared are kept, the others dropped. A
 * decider handles the accesses of one chunk, in their order.
 *
 * Memory of a dropped access is cut, which takes a locked instruction for each shadow word.
 * Successive accesses are mostly to neighbouring granules. So the decider defers cuts, and makes
 * those of four granules at once.
 *
 * Reset marks. When shared memory is freed, its shadow is reset, but accesses of its earlier life
 * may still be undecided. So its page is marked with the time of the reset (shadow_was_shared), and
 * older accesses are kept. Also, an access of an earlier life must not cut the history of the next
 * one. For this, pages of blocks of a page or more are marked (shadow_was_touched). Smaller blocks
 * are not: they come and go so often that no other memory of their page would ever be cut. Two
 * pages may share a mark, which keeps too much, never too little.
 */
#ifndef RUNTIME_RECORD_SHADOW_DECIDE_H
#define RUNTIME_RECORD_SHADOW_DECIDE_H

#include "abi/mix.h"
#include "runtime/record/shadow.h"
#include "runtime/record/shadow_four.h"

#define SHADOW_DEFERRED 64u	/* entries of the decider's direct-mapped table of deferred cuts */
#define SHADOW_MARKS 65536u	/* number of marks */

struct shadow_marks {
	uint64_t page[SHADOW_MARKS];	/* time of the last reset, by a hash of the page */
	uint64_t last;			/* not before the latest of these times */
};

extern SNARLRT_HIDDEN struct shadow_marks shadow_was_shared, shadow_was_touched;

struct shadow_decider {
	uint64_t time;		/* lower bound of the time of the accesses */
	/* Shadow word of the thread that made them, uncut; 0: its id is above SHADOW_MAX_ID. */
	uint16_t uncut;
	/* Cut the memory of dropped accesses; false at the end of the run. */
	bool cut;
	struct {
		uint16_t *four;		/* four aligned shadow words; NULL: the entry is empty */
		uint64_t which;		/* which of them to cut: the lowest bit of each */
	} deferred[SHADOW_DEFERRED];
};

SNARLRT_HIDDEN void shadow_decider_init(struct shadow_decider *d, uint32_t id, uint64_t time,
					bool cut);
/* Makes all deferred cuts. */
SNARLRT_HIDDEN void shadow_decider_end(struct shadow_decider *d);

/*
 * Decides one access. True: keep it, as another thread has accessed the memory. False: drop it; the
 * memory's history is cut, so that further accesses of its owner are not recorded.
 */
SNARLRT_HIDDEN bool shadow_decide(struct shadow_decider *d, uint64_t addr, uint64_t size);

/* A set of decisions: at least one access is dropped; at least one is kept. */
enum { SHADOW_SOME_DROP = 1, SHADOW_SOME_KEEP = 2 };

/* Decides an access of a loop in all iterations. Returns the set of decisions. */
SNARLRT_HIDDEN unsigned shadow_decide_loop(struct shadow_decider *d, uint64_t addr, uint64_t stride,
					   uint64_t iterations, uint64_t size);

/*
 * Marks the pages of memory that is reset. Called before the shadow is cleared, so that a thread
 * that no longer sees the old words sees the mark.
 */
SNARLRT_HIDDEN void shadow_mark(struct shadow_marks *m, uint64_t addr, uint64_t size, uint64_t now);

/* Makes the deferred cuts of one entry. */
SNARLRT_HIDDEN void shadow_cut_deferred(struct shadow_decider *d, unsigned slot);

static inline uint64_t *shadow_mark_of(struct shadow_marks *m, uint64_t addr)
{
	return &m->page[mix_spread(addr >> 12) >> 48];
}

/* Whether the memory of this shadow word was reset after `time`, as far as the marks say. */
static inline bool shadow_reset_since(struct shadow_marks *m, const uint16_t *s, uint64_t time)
{
	return __atomic_load_n(&m->last, __ATOMIC_RELAXED) > time &&
	       __atomic_load_n(shadow_mark_of(m, shadow_granule(s) * 8), __ATOMIC_RELAXED) > time;
}

/* Defers cutting the shadow words from `s` on that `which` selects: the lowest bit of each. */
static inline void shadow_defer_cut(struct shadow_decider *d, const uint16_t *s, uint64_t which)
{
	uint16_t *four = (uint16_t *)((uintptr_t)s & ~7ull);
	unsigned slot = (uintptr_t)s / 8 % SHADOW_DEFERRED;

	if (d->deferred[slot].four != four) {
		shadow_cut_deferred(d, slot);
		d->deferred[slot].four = four;
	}
	d->deferred[slot].which |= which << (uintptr_t)s % 8 * 8;
}

/* shadow_decide() for most accesses: within one granule, or 16 aligned bytes. */
static inline __attribute__((always_inline)) bool shadow_decide_access(struct shadow_decider *d,
								       uint64_t addr, uint64_t size)
{
	const uint16_t *s = shadow_of(addr);
	uint32_t low = addr % 8 + size <= 8 ? 1 : 0x10001, seen;

	if (unlikely(addr >= SHADOW_USER_END || (low != 1 && (size != 16 || addr % 16 != 0))))
		return shadow_decide(d, addr, size);
	seen = low == 1 ? __atomic_load_n(s, __ATOMIC_RELAXED) :
			  __atomic_load_n((const uint32_t *)(const void *)s, __ATOMIC_RELAXED);
	if (seen == low * SHADOW_SHARED)
		return true;
	/* Most memory is the owner's, or freed: at the end of a run most blocks are. */
	if (unlikely((seen != 0 && (seen | low) != low * (d->uncut | 1u)) || !d->uncut))
		return shadow_decide(d, addr, size);
	if (unlikely(shadow_reset_since(&shadow_was_shared, s, d->time)))
		return true;
	if (d->cut && seen != 0 && (~seen & low))
		shadow_defer_cut(d, s, ~seen & low);
	return false;
}

#endif

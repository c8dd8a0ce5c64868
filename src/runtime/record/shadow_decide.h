/*
 * Accesses that waited for a verdict: those of a chunk are decided one after the other.
 *
 * What is dropped is cut, which takes a locked instruction. Accesses that follow each other mostly are
 * neighbours, so what is to be cut is gathered, and four granules become so at once.
 */
#ifndef RUNTIME_RECORD_SHADOW_DECIDE_H
#define RUNTIME_RECORD_SHADOW_DECIDE_H

#include "abi/mix.h"
#include "runtime/record/shadow.h"
#include "runtime/record/shadow_four.h"

#define SHADOW_GATHERED 64u
#define SHADOW_MARKS 65536u

struct shadow_marks {
	uint64_t page[SHADOW_MARKS];	/* when memory was last reset there */
	uint64_t last;			/* the latest of them, or later */
};

extern SNARLRT_HIDDEN struct shadow_marks shadow_was_shared, shadow_was_touched;

struct shadow_decider {
	uint64_t time;		/* the accesses were made at or after it … */
	uint16_t uncut;		/* … by the thread that has this value; 0: it owns nothing */
	bool cut;		/* what is dropped; not at the end of the run */
	struct {
		uint16_t *four;		/* NULL: none */
		uint64_t which;		/* of these: the lowest bit of each */
	} gathered[SHADOW_GATHERED];
};

SNARLRT_HIDDEN void shadow_decider_init(struct shadow_decider *d, uint32_t id, uint64_t time, bool cut);
SNARLRT_HIDDEN void shadow_decider_end(struct shadow_decider *d);

/*
 * An access that is no longer waited for: true if another thread came to share the memory. Otherwise its
 * history is cut, and from then on the owner's accesses to it are not kept.
 */
SNARLRT_HIDDEN bool shadow_decide(struct shadow_decider *d, uint64_t addr, uint64_t size);

enum { SHADOW_SOME_DROP = 1, SHADOW_SOME_KEEP = 2 };

/* The same for an access of a loop in all its turns: what there was. */
SNARLRT_HIDDEN unsigned shadow_decide_loop(struct shadow_decider *d, uint64_t addr, uint64_t stride, uint64_t turns,
					   uint64_t size);

/* Memory starts anew. A mark is there before the owners are forgotten: who does not see them sees it. */
SNARLRT_HIDDEN void shadow_mark(struct shadow_marks *m, uint64_t addr, uint64_t size, uint64_t now);

/* Cuts what was gathered at one place. */
SNARLRT_HIDDEN void shadow_cut(struct shadow_decider *d, unsigned place);

static inline uint64_t *shadow_mark_of(struct shadow_marks *m, uint64_t addr)
{
	return &m->page[mix_spread(addr >> 12) >> 48];
}

/* Was there another life of this memory after `time`? */
static inline bool shadow_reset_since(struct shadow_marks *m, const uint16_t *s, uint64_t time)
{
	return __atomic_load_n(&m->last, __ATOMIC_RELAXED) > time &&
	       __atomic_load_n(shadow_mark_of(m, granule_of(s) * 8), __ATOMIC_RELAXED) > time;
}

static inline void shadow_cut_later(struct shadow_decider *d, const uint16_t *s, uint64_t which)
{
	uint16_t *four = (uint16_t *)((uintptr_t)s & ~7ull);
	unsigned place = (uintptr_t)s / 8 % SHADOW_GATHERED;

	if (d->gathered[place].four != four) {
		shadow_cut(d, place);
		d->gathered[place].four = four;
	}
	d->gathered[place].which |= which << (uintptr_t)s % 8 * 8;
}

/* As shadow_decide, for what most accesses are: within one granule, or 16 bytes that are aligned. */
static inline __attribute__((always_inline)) bool shadow_decide_access(struct shadow_decider *d, uint64_t addr, uint64_t size)
{
	const uint16_t *s = shadow_of(addr);
	uint32_t low = addr % 8 + size <= 8 ? 1 : 0x10001, seen;

	if (unlikely(addr >= SHADOW_USER_END || (low != 1 && (size != 16 || addr % 16 != 0))))
		return shadow_decide(d, addr, size);
	seen = low == 1 ? __atomic_load_n(s, __ATOMIC_RELAXED) :
			  __atomic_load_n((const uint32_t *)(const void *)s, __ATOMIC_RELAXED);
	if (seen == low * SHADOW_SHARED)
		return true;
	/* The owner's, or nobody's any more: at the end of a run most of it is freed. */
	if (unlikely((seen != 0 && (seen | low) != low * (d->uncut | 1u)) || !d->uncut))
		return shadow_decide(d, addr, size);
	if (unlikely(shadow_reset_since(&shadow_was_shared, s, d->time)))
		return true;
	if (d->cut && seen != 0 && (~seen & low))
		shadow_cut_later(d, s, ~seen & low);
	return false;
}

#endif

/* Decides undecided accesses (shadow_decide.h). */
#include "runtime/record/shadow_decide.h"

#define PAGE 4096ull
/* Bytes. With a smaller stride, the product of stride and iterations cannot overflow. */
#define LONGEST (1ull << 32)

struct shadow_marks shadow_was_shared SNARLRT_BIG, shadow_was_touched SNARLRT_BIG;
uint8_t snarlrt_cut_lines[SHADOW_CUT_LINES] SNARLRT_BIG;

void shadow_mark(struct shadow_marks *m, uint64_t addr, uint64_t size, uint64_t now)
{
	uint64_t last = __atomic_load_n(&m->last, __ATOMIC_RELAXED);

	for (uint64_t page = addr & ~(PAGE - 1); page < addr + size; page += PAGE)
		__atomic_store_n(shadow_mark_of(m, page), now, __ATOMIC_RELAXED);
	while (last < now && !__atomic_compare_exchange_n(&m->last, &last, now, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void shadow_decider_init(struct shadow_decider *d, uint32_t id, uint64_t time, bool cut)
{
	d->time = time;
	d->uncut = id <= SHADOW_MAX_ID ? (uint16_t)(id * 2) : 0;
	d->cut = cut;
	/* The parent of a fork may have left entries. */
	for (unsigned i = 0; i < SHADOW_DEFERRED; i++) {
		d->deferred[i].four = NULL;
		d->deferred[i].which = 0;
	}
}

/*
 * Cuts each word by itself. Memory that became shared after its access was dropped lacks part of
 * its history as well, and is counted.
 */
static void cut_each(const struct shadow_decider *d, uint16_t *s, uint64_t which)
{
	for (; which; which >>= 16, s++) {
		uint16_t seen = d->uncut;

		if (which & 1 &&
		    !__atomic_compare_exchange_n(s, &seen, d->uncut | 1, false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) &&
		    seen == shadow_shared() && __snarl_tls.self)
			shadow_count_cut(&__snarl_tls, shadow_granule(s) * 8, 1);
	}
}

void shadow_cut_deferred(struct shadow_decider *d, unsigned slot)
{
	uint16_t *s = d->deferred[slot].four;
	uint64_t which = d->deferred[slot].which, four;

	d->deferred[slot].four = NULL;
	d->deferred[slot].which = 0;
	if (!s || shadow_reset_since(&shadow_was_touched, s, d->time))
		return;
	four = shadow_load_four(s);
	if (((four ^ d->uncut * SHADOW_FOUR) & which * 0xffff) != 0 ||
	    !shadow_change_four(s, four, four | which))
		cut_each(d, s, which);
}

void shadow_decider_end(struct shadow_decider *d)
{
	for (unsigned i = 0; i < SHADOW_DEFERRED; i++)
		shadow_cut_deferred(d, i);
}

static inline bool decide_granule(struct shadow_decider *d, uint16_t *s)
{
	uint16_t seen = __atomic_load_n(s, __ATOMIC_RELAXED);

	if ((seen != 0 && (seen & ~1u) != d->uncut) ||
	    shadow_reset_since(&shadow_was_shared, s, d->time))
		return true;
	if (d->cut && seen == d->uncut)
		shadow_defer_cut(d, s, 1);
	return false;
}

bool shadow_decide(struct shadow_decider *d, uint64_t addr, uint64_t size)
{
	bool keep = false;
	uint16_t *s, *end;

	if (addr >= SHADOW_USER_END || size > SHADOW_USER_END - addr || !d->uncut)
		return true;
	if (size == 0)
		return false;
	s = shadow_of(addr);
	end = shadow_of(addr + size - 1);
	for (; s <= end; s++)
		keep |= decide_granule(d, s);
	return keep;
}

/* Drops an access to four granules that its thread owns. False: decide them one by one. */
static inline bool drop_four(const struct shadow_decider *d, uint16_t *s, uint64_t four,
			     uint64_t cut4)
{
	if (shadow_reset_since(&shadow_was_shared, s, d->time))
		return false;
	if (!d->cut || four == cut4)
		return true;
	return !shadow_reset_since(&shadow_was_touched, s, d->time) &&
	       shadow_change_four(s, four, cut4);
}

static inline unsigned decided(bool keep)
{
	return keep ? SHADOW_SOME_KEEP : SHADOW_SOME_DROP;
}

/* Decides an access to all granules from `s` to `end`, inclusive. Returns the set of decisions. */
static unsigned decide_all(struct shadow_decider *d, uint16_t *s, const uint16_t *end)
{
	uint64_t cut4 = (d->uncut | 1) * SHADOW_FOUR;
	unsigned found = 0;

	while (s <= end) {
		bool whole = shadow_four_fit(s, end);
		uint64_t four = whole ? shadow_load_four(s) : 0;

		if (four == ~0ull ||
		    ((four | SHADOW_FOUR) == cut4 && drop_four(d, s, four, cut4))) {
			found |= decided(four == ~0ull);
			s += 4;
		} else if (whole && four == 0) {
			found |= decided(shadow_reset_since(&shadow_was_shared, s, d->time));
			s += 4;
		} else {
			found |= decided(decide_granule(d, s));
			s++;
		}
	}
	return found;
}

unsigned shadow_decide_loop(struct shadow_decider *d, uint64_t addr, uint64_t stride,
			    uint64_t iterations, uint64_t size)
{
	uint64_t last = addr + (iterations - 1) * stride;
	bool strided = stride + 8 > 16 && stride != size,
	     within = size <= 8 && ((addr | stride) & (size - 1)) == 0;
	unsigned found = 0;

	if (!d->uncut || stride + LONGEST >= 2 * LONGEST ||
	    (addr | last) >= SHADOW_USER_END - size || (strided && !within)) {
		for (; iterations > 0; iterations--, addr += stride)
			found |= decided(shadow_decide_access(d, addr & TRACE_ADDR_MASK, size));
		return found;
	}
	if (!strided)
		return addr < last ? decide_all(d, shadow_of(addr), shadow_of(last + size - 1)) :
				     decide_all(d, shadow_of(last), shadow_of(addr + size - 1));
	for (; iterations > 0; iterations--, addr += stride)
		found |= decided(decide_granule(d, shadow_of(addr)));
	return found;
}

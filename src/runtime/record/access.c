/* Records plain accesses that the assembly's fast paths do not handle, and ranges. */
#include "runtime/record/allocation_sites.h"
#include "runtime/record/clock.h"
#include "runtime/record/record_mode.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow.h"

/*
 * Records an access to shared memory within one or two granules. False: the memory is not shared,
 * or the ring needs C code (a stamp is due, calls are pending).
 */
static inline bool access_quick(struct snarlrt_tls *tls, uint64_t addr, uint64_t site)
{
	const uint16_t *s = (const uint16_t *)(SHADOW_BASE + (addr >> 3) * 2);
	uint64_t bytes = (addr & 7) + (1u << (site >> 56 & TRACE_SIZE_MASK));

	return (uintptr_t)tls->cur % STAMP_BYTES != 0 && tls->own_uncut &&
	       addr <= TRACE_ADDR_MASK >> 1 && *s == SHADOW_SHARED &&
	       (bytes <= 8 || (bytes <= 16 && s[1] == SHADOW_SHARED)) &&
	       snarlrt_append_quick(addr, site);
}

/*
 * Whether a page of the ring ends within the next three records: then snarlrt_append() would add a
 * stamp of its own among them.
 */
static bool page_ends(void)
{
	uintptr_t at = (uintptr_t)__snarl_tls.cur % STAMP_BYTES;

	return at == 0 || STAMP_BYTES - at < 4 * sizeof(struct trace_record);
}

/* Records an access between two stamps of one time, which gives the access that time. */
static void append_timed(struct snarlrt_thread *self, const struct trace_record *r)
{
	struct trace_record time = { clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };

	while (page_ends())
		snarlrt_append(self, &time, 1);
	time.addr = clock_now_behind(self);
	snarlrt_append(self, &time, 1);
	snarlrt_append(self, r, 1);
	snarlrt_append(self, &time, 1);
}

void record_access(uint64_t addr, uint64_t site)
{
	struct trace_record r = { addr & TRACE_ADDR_MASK, site };
	enum shadow_verdict verdict = SHADOW_KEEP;
	struct snarlrt_thread *self;

	self = snarlrt_enter();
	if (!self)
		return;
	if (unlikely(self->claims) && addr <= TRACE_ADDR_MASK >> 1 &&
	    *(uint16_t *)(SHADOW_BASE + (addr >> 3) * 2) == 0)
		allocation_claim(self, addr);
	/* Unless the memory is cut, the access will be recorded; so pending calls can be, first. */
	if (__snarl_tls.frame != __snarl_tls.emitted && addr <= TRACE_ADDR_MASK >> 1 &&
	    *(uint16_t *)(SHADOW_BASE + (addr >> 3) * 2) != __snarl_tls.own)
		snarlrt_emit_calls(self);
	if (!snarlrt_timed && access_quick(&__snarl_tls, addr, site)) {
		snarlrt_leave(self);
		return;
	}
	if (snarlrt.filter)
		verdict = shadow_touch(addr, 1ull << (site >> 56 & TRACE_SIZE_MASK));
	if (verdict != SHADOW_DROP) {
		if (verdict == SHADOW_UNDECIDED)
			__snarl_tls.undecided++;
		snarlrt_emit_calls(self);
		if (unlikely(snarlrt_timed))
			append_timed(self, &r);
		else
			snarlrt_append(self, &r, 1);
	}
	snarlrt_leave(self);
}

/*
 * Records a small range if all of it is shared or all of it undecided. False: nothing was done,
 * because it is neither, calls are pending, or a page of the ring ends.
 */
static inline bool range_quick(struct snarlrt_thread *self, uint64_t addr, uint64_t size,
			       uint64_t site)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record *cur = tls->cur;
	bool undecided = false;

	if (size > SHADOW_SMALL || tls->frame != tls->emitted || !tls->own_uncut || snarlrt_timed ||
	    (uintptr_t)cur % STAMP_BYTES == 0 || (uintptr_t)(cur + 1) % STAMP_BYTES == 0)
		return false;
	if (!shadow_small_is(addr, size, SHADOW_SHARED)) {
		undecided = shadow_small_is(addr, size, tls->own_uncut);
		if (!undecided)
			return false;
	}
	tls->undecided += undecided;
	/* The site of the first record makes both valid. */
	cur[1].addr = self->last_time;
	cur[1].site = size;
	cur->addr = addr;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	cur->site = site;
	tls->cur = cur + 2;
	return true;
}

void record_range(uint64_t addr, uint64_t size, uint64_t site)
{
	struct snarlrt_thread *self = snarlrt_enter();
	enum shadow_verdict verdict = SHADOW_KEEP;

	if (!self)
		return;
	if (range_quick(self, addr, size, site)) {
		snarlrt_leave(self);
		return;
	}
	if (snarlrt.filter)
		verdict = shadow_touch(addr, size);
	if (verdict != SHADOW_DROP) {
		struct trace_record r[2] = { { addr & TRACE_ADDR_MASK, site }, { 0, size } };

		if (verdict == SHADOW_UNDECIDED)
			__snarl_tls.undecided++;
		snarlrt_emit_calls(self);
		r[1].addr = snarlrt_timed ? clock_now_behind(self) : self->last_time;
		snarlrt_append(self, r, 2);
	}
	snarlrt_leave(self);
}

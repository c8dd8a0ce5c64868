/* Updates the shadow: for accesses, and when memory is allocated or freed. */
#include <sys/mman.h>

#include "runtime/core/sys.h"
#include "runtime/record/allocation_sites.h"
#include "runtime/record/clock.h"
#include "runtime/record/parallel_coverage.h"
#include "runtime/record/record_mode.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow_decide.h"
#include "runtime/record/shadow_four.h"

/* Bytes of shadow from which on madvise clears faster than a loop. */
#define BIG (256u << 10)
#define PAGE 4096ull
#define SMALL_BYTES 16u	/* accesses up to this size are handled granule by granule */

bool snarlrt_sharing_any;
uint32_t snarlrt_sharing_sites[SHARING_SITE_BITS / 32] SNARLRT_BIG;

void shadow_map(void)
{
	static bool done;
	void *want = (void *)SHADOW_BASE, *got;
	size_t size = SHADOW_BYTES;

	if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		return;
	got = sys_mmap(want, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (got != want)
		sys_die("cannot reserve address space for the shadow memory "
			"(is there a 'ulimit -v', or vm.overcommit_memory=2?)");
	sys_call(SYS_madvise, want, size, MADV_DONTDUMP);
	sys_call(SYS_madvise, want, size, MADV_NOHUGEPAGE);
}

static enum shadow_verdict touch_granule(uint16_t *s, const struct snarlrt_tls *tls)
{
	uint16_t seen = __atomic_load_n(s, __ATOMIC_RELAXED);

	if (seen == 0 && allocation_claim(tls->self, shadow_granule(s) * 8))
		seen = __atomic_load_n(s, __ATOMIC_RELAXED);
	if (seen == SHADOW_SHARED)
		return SHADOW_KEEP;
	if (seen == tls->own)
		return SHADOW_DROP;
	if (seen == tls->own_uncut)
		return SHADOW_UNDECIDED;
	if (seen == 0 && !snarlrt.threaded) {
		*s = tls->own_uncut;
		return SHADOW_UNDECIDED;
	}
	if (seen == 0 && __atomic_compare_exchange_n(s, &seen, tls->own_uncut, false,
						     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return SHADOW_UNDECIDED;
	if (seen == shadow_shared())
		return SHADOW_KEEP;
	__atomic_store_n(s, shadow_shared(), __ATOMIC_RELAXED);
	if (seen & 1) {
		shadow_count_cut(tls, shadow_granule(s) * 8, 1);
		if (snarlrt.profiling)
			snarlrt_profile_shared(tls->self, shadow_granule(s));
	}
	return SHADOW_KEEP;
}

/* Makes four granules shared if one other thread owns them all. False: nothing was done. */
static inline bool share_four(uint16_t *s, uint64_t four, const struct snarlrt_tls *tls)
{
	uint16_t value = (uint16_t)four;

	if (value == 0 || (value | 1) == tls->own || four != value * SHADOW_FOUR || snarlrt_timed ||
	    snarlrt.profiling)
		return false;
	__atomic_store_n((uint64_t *)(void *)s, ~0ull, __ATOMIC_RELAXED);
	if (value & 1)
		shadow_count_cut(tls, shadow_granule(s) * 8, 4);
	return true;
}

/* Touches four granules. Returns 1 << their verdict; 0: the caller handles them one by one. */
static inline unsigned touch_four(uint16_t *s, const struct snarlrt_tls *tls)
{
	uint64_t four = shadow_load_four(s), uncut4 = tls->own_uncut * SHADOW_FOUR;

	if (four == tls->own * SHADOW_FOUR)
		return 1u << SHADOW_DROP;
	if (four == ~0ull || share_four(s, four, tls))
		return 1u << SHADOW_KEEP;
	if (uncut4 != 0 && (four == uncut4 ||
			    (four == 0 && !tls->self->claims && shadow_change_four(s, 0, uncut4))))
		return 1u << SHADOW_UNDECIDED;
	return 0;
}

/*
 * Touches a range, and returns the set of verdicts (1 << verdict). Unless `whole`, stops before the
 * first granule with which the set would have both SHADOW_DROP and SHADOW_KEEP. *end becomes the
 * shadow word at which it stopped.
 */
static inline __attribute__((always_inline)) unsigned touch_run(uint64_t addr, uint64_t size,
								bool whole, uint16_t **end)
{
	const struct snarlrt_tls *tls = &__snarl_tls;
	uint16_t *s = shadow_of(addr), *last = shadow_of(addr + size - 1);
	const unsigned mixed = 1u << SHADOW_DROP | 1u << SHADOW_KEEP;
	unsigned found = 0;

	while (s <= last) {
		unsigned four = shadow_four_fit(s, last) ? touch_four(s, tls) : 0;
		unsigned now = four ? four : 1u << touch_granule(s, tls);

		if (!whole && ((found | now) & mixed) == mixed)
			break;
		found |= now;
		s += four ? 4 : 1;
	}
	*end = s;
	return found;
}

unsigned shadow_touch_all(uint64_t addr, uint64_t size)
{
	uint16_t *end;

	return touch_run(addr, size, true, &end);
}

unsigned shadow_touch_run(uint64_t addr, uint64_t *size)
{
	uint64_t behind;
	uint16_t *end;
	unsigned found = touch_run(addr, *size, false, &end);

	behind = shadow_granule(end) * 8;
	if (behind < addr + *size)
		*size = behind - addr;
	return found;
}

enum shadow_verdict shadow_touch(uint64_t addr, uint64_t size)
{
	const struct snarlrt_tls *tls = &__snarl_tls;
	enum shadow_verdict verdict = SHADOW_DROP;
	uint16_t *s, *end;

	if (size == 0)
		return SHADOW_DROP;
	if (addr >= SHADOW_USER_END || size > SHADOW_USER_END - addr)
		return SHADOW_KEEP;
	if (size > SMALL_BYTES)
		return (enum shadow_verdict)(31 - __builtin_clz(shadow_touch_all(addr, size)));
	s = shadow_of(addr);
	end = shadow_of(addr + size - 1);
	for (; s <= end; s++) {
		enum shadow_verdict v =
			likely(*s == tls->own) ? SHADOW_DROP : touch_granule(s, tls);

		if (v > verdict)
			verdict = v;
	}
	return verdict;
}

static inline bool is_others(uint16_t seen, uint16_t own)
{
	return seen != 0 && (seen | 1) != own;
}

static inline uint64_t load_unaligned_four(const uint16_t *s)
{
	uint64_t four;

	__builtin_memcpy(&four, s, sizeof(four));
	return four;
}

/* Whether all words from `s` to `end` have this value. Some may be compared twice. */
static inline bool all_are(const uint16_t *s, const uint16_t *end, uint16_t value)
{
	const uint16_t *last = end - 4;
	uint64_t four = value * SHADOW_FOUR;

	if (s > last) {
		while (s < end && *s == value)
			s++;
		return s == end;
	}
	for (; s < last; s += 4)
		if (load_unaligned_four(s) != four)
			return false;
	return load_unaligned_four(last) == four;
}

/* Adds what these shadow words hold to the census. */
static void census_add(struct shadow_census *c, const uint16_t *s, const uint16_t *end)
{
	const uint64_t low = SHADOW_FOUR, high = low << 15;
	uint16_t own = __snarl_tls.own;
	uint64_t four;

	for (; end - s >= 4; s += 4) {
		four = load_unaligned_four(s);
		c->touched |= four != 0;
		c->shared |= ((~four - low) & four & high) != 0;
		if (four != 0 && (four | low) != own * low && !c->shared)
			for (int i = 0; i < 4; i++)
				c->others |= is_others((uint16_t)(four >> 16 * i), own);
	}
	for (; s < end; s++) {
		c->touched |= *s != 0;
		c->shared |= *s == SHADOW_SHARED;
		c->others |= is_others(*s, own);
	}
}

void shadow_fill(uint64_t addr, uint64_t size, uint16_t value)
{
	uint16_t *s = shadow_of(addr), *end = shadow_of(addr + size);
	uint64_t four = value * SHADOW_FOUR;

	for (; end - s >= 4; s += 4)
		__builtin_memcpy(s, &four, sizeof(four));
	for (; s < end; s++)
		*s = value;
}

bool shadow_is(uint64_t addr, uint64_t size, uint16_t value)
{
	return all_are(shadow_of(addr), shadow_of(addr + size), value);
}

void shadow_claim(uint64_t addr, uint64_t size)
{
	uint16_t *s = shadow_of(addr), *end = shadow_of(addr + size);

	for (; s < end; s++) {
		uint16_t untouched = 0;

		if (*s == 0)
			__atomic_compare_exchange_n(s, &untouched, __snarl_tls.own, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

/*
 * Resets some shadow words. If some were shared, marks the memory's pages with the time, so that
 * undecided accesses of its earlier life are kept (shadow_decide.h).
 */
static __attribute__((noinline)) void
reset_touched(struct snarlrt_thread *self, struct shadow_census *all, uint16_t *s, uint16_t *end)
{
	uint64_t addr = shadow_granule(s) * 8, size = (uint64_t)(end - s) * 8;
	struct shadow_census c = { false, false, false };

	census_add(&c, s, end);
	/* With times=all, shared words are SHADOW_TIMED, which counts as another owner. */
	c.shared |= c.others && snarlrt_timed;
	if (c.shared)
		shadow_mark(&shadow_was_shared, addr, size, clock_now(self));
	if (c.touched)
		shadow_fill(addr, size, 0);
	if (c.touched && snarlrt.profiling)
		snarlrt_profile_fresh(shadow_granule(s), (uint64_t)(end - s));
	all->shared |= c.shared;
	all->touched |= c.touched;
	all->others |= c.others;
}

static inline void reset_range(struct snarlrt_thread *self, struct shadow_census *all, uint16_t *s,
			       uint16_t *end)
{
	if (!all_are(s, end, 0))		/* newly allocated blocks are mostly untouched */
		reset_touched(self, all, s, end);
}

/*
 * Resets the shadow of a big block. Such blocks, especially stacks, are mostly untouched, and so is
 * their shadow. Only resident pages are read, and all whole pages are returned to the kernel.
 */
static void reset_big(struct snarlrt_thread *self, struct shadow_census *c, uint16_t *s,
		      uint16_t *end)
{
	uint64_t low = ((uint64_t)s + PAGE - 1) & ~(PAGE - 1), high = (uint64_t)end & ~(PAGE - 1);
	unsigned char there[512];

	reset_range(self, c, s, (uint16_t *)low);
	reset_range(self, c, (uint16_t *)high, end);
	for (uint64_t at = low; at < high; at += sizeof(there) * PAGE) {
		uint64_t pages = (high - at) / PAGE;

		if (pages > sizeof(there))
			pages = sizeof(there);
		if (sys_call(SYS_mincore, at, pages * PAGE, there) != 0)
			for (uint64_t i = 0; i < pages; i++)
				there[i] = 1;
		for (uint64_t i = 0; i < pages; i++)
			if (there[i] & 1)
				reset_range(self, c, (uint16_t *)(at + i * PAGE),
					   (uint16_t *)(at + (i + 1) * PAGE));
	}
	sys_call(SYS_madvise, low, high - low, MADV_DONTNEED);
}

struct shadow_census shadow_reset(struct snarlrt_thread *self, uint64_t addr, uint64_t size)
{
	struct shadow_census c = { false, false, false };
	uint64_t end = (addr + size) & ~7ull;
	uint16_t *s, *last;

	addr = (addr + 7) & ~7ull;
	if (addr >= end || end > SHADOW_USER_END)
		return c;
	s = shadow_of(addr);
	last = shadow_of(end);
	if ((uint64_t)last - (uint64_t)s >= BIG)
		reset_big(self, &c, s, last);
	else
		reset_range(self, &c, s, last);
	if (c.touched && end - addr >= PAGE)
		shadow_mark(&shadow_was_touched, addr, end - addr, clock_now(self));
	return c;
}

void record_fresh(const void *start, size_t size)
{
	struct snarlrt_thread *self;

	if (!snarlrt.filter)
		return;
	self = snarlrt_enter();
	if (!self)
		return;
	shadow_reset(self, (uint64_t)start, size);
	snarlrt_leave(self);
}

/*
 * Owners of memory, and what happens to them when memory is freed.
 *
 * A granule that was shared and then freed starts anew for its next user. But an
 * access of its earlier life may still wait in the stash for a verdict; so the
 * page is marked in a small table with the time of the change, and accesses older
 * than the mark are kept (two pages may share a mark: that keeps too much, never
 * too little).
 */
#include <sys/mman.h>

#include "runtime/clock.h"
#include "runtime/control.h"
#include "runtime/profile.h"
#include "runtime/shadow.h"
#include "runtime/sys.h"
#include "runtime/watch.h"

#define USER_END (1ull << 47)
#define MARKS 65536u
#define BIG (256u << 10)	/* bytes of shadow from which the kernel clears faster */
#define PAGE 4096ull
#define BLOCK_MAX (64u << 10)

static uint64_t marks[MARKS] SNARLRT_BIG;	/* by page: when shared memory was last reset there */
static uint64_t last_mark;	/* the latest of them, or later */

static inline uint16_t *shadow_of(uint64_t addr)
{
	return (uint16_t *)(SHADOW_BASE + (addr >> 3) * 2);
}

static inline uint64_t granule_of(const uint16_t *s)
{
	return ((uint64_t)s - SHADOW_BASE) / 2;
}

static inline uint64_t *mark_of(uint64_t addr)
{
	return &marks[(addr >> 12) * 0x9e3779b97f4a7c15ull >> 48];
}

void shadow_map(void)
{
	static bool done;
	void *want = (void *)SHADOW_BASE, *got;
	size_t size = USER_END / 4;

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

	if (seen == SHADOW_SHARED)
		return SHADOW_KEEP;
	if (seen == tls->own)
		return SHADOW_DROP;
	if (seen == tls->own_uncut)
		return SHADOW_UNDECIDED;
	if (seen == 0 && tls->own_uncut) {
		if (!snarlrt.threaded) {
			*s = tls->own_uncut;
			return SHADOW_UNDECIDED;
		}
		if (__atomic_compare_exchange_n(s, &seen, tls->own_uncut, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return SHADOW_UNDECIDED;
	}
	if (seen & 1 && seen != SHADOW_SHARED) {
		__atomic_fetch_add(&snarlrt.live->cut_locations, 1, __ATOMIC_RELAXED);
		if (snarlrt.profiling)
			snarlrt_profile_shared(tls->self, granule_of(s));
	}
	__atomic_store_n(s, SHADOW_SHARED, __ATOMIC_RELAXED);
	return SHADOW_KEEP;
}

enum shadow_verdict shadow_touch(uint64_t addr, uint64_t size)
{
	const struct snarlrt_tls *tls = &__snarl_tls;
	enum shadow_verdict verdict = SHADOW_DROP;
	uint16_t *s, *end;

	if (size == 0)
		return SHADOW_DROP;
	if (addr >= USER_END || size > USER_END - addr)
		return SHADOW_KEEP;
	s = shadow_of(addr);
	end = shadow_of(addr + size - 1);
	for (; s <= end; s++) {
		enum shadow_verdict v;

		if (likely(*s == tls->own))
			continue;
		v = touch_granule(s, tls);
		if (v > verdict)
			verdict = v;
	}
	return verdict;
}

/* Was there another life of this memory after `time`, and was it shared in it? */
static bool reset_since(const uint16_t *s, uint64_t time)
{
	uint64_t addr = granule_of(s) * 8;

	return __atomic_load_n(mark_of(addr), __ATOMIC_RELAXED) > time;
}

bool shadow_decide(uint32_t id, uint64_t time, uint64_t addr, uint64_t size, bool cut)
{
	bool marked = __atomic_load_n(&last_mark, __ATOMIC_RELAXED) > time;
	uint16_t uncut = id <= SHADOW_MAX_ID ? (uint16_t)(id * 2) : 0;
	bool keep = false;
	uint16_t *s, *end;

	if (addr >= USER_END || size > USER_END - addr || !uncut)
		return true;
	if (size == 0)
		return false;
	s = shadow_of(addr);
	end = shadow_of(addr + size - 1);
	for (; s <= end; s++) {
		uint16_t seen = __atomic_load_n(s, __ATOMIC_RELAXED);

		if ((seen != 0 && (seen & ~1u) != uncut) || (marked && reset_since(s, time)))
			keep = true;
		else if (cut && seen == uncut)
			__atomic_compare_exchange_n(s, &seen, uncut | 1, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
	return keep;
}

/* A mark is there before the owners are forgotten: who does not see them sees it. */
static void mark_pages(uint64_t addr, uint64_t size, uint64_t now)
{
	uint64_t last = __atomic_load_n(&last_mark, __ATOMIC_RELAXED);

	for (uint64_t page = addr & ~(PAGE - 1); page < addr + size; page += PAGE)
		__atomic_store_n(mark_of(page), now, __ATOMIC_RELAXED);
	while (last < now && !__atomic_compare_exchange_n(&last_mark, &last, now, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* What some granules are, all of them together. */
struct census {
	bool shared, touched;	/* at least one is */
};

static struct census count(const uint16_t *s, const uint16_t *end)
{
	const uint64_t low = 0x0001000100010001ull, high = low << 15;
	struct census c = { false, false };
	uint64_t four;

	for (; end - s >= 4; s += 4) {
		__builtin_memcpy(&four, s, sizeof(four));
		c.touched |= four != 0;
		c.shared |= ((~four - low) & four & high) != 0;
	}
	for (; s < end; s++) {
		c.touched |= *s != 0;
		c.shared |= *s == SHADOW_SHARED;
	}
	return c;
}

static void fill(uint16_t *s, const uint16_t *end, uint16_t value)
{
	uint64_t four = value * 0x0001000100010001ull;

	for (; end - s >= 4; s += 4)
		__builtin_memcpy(s, &four, sizeof(four));
	for (; s < end; s++)
		*s = value;
}

/* Forgets the owners of some granules; the memory they stand for gets a mark if need be. */
static void fresh_some(struct snarlrt_thread *self, uint16_t *s, uint16_t *end)
{
	uint64_t addr = granule_of(s) * 8;
	struct census c = count(s, end);

	if (c.shared)
		mark_pages(addr, (uint64_t)(end - s) * 8, clock_now(self));
	if (c.touched)
		fill(s, end, 0);
	if (c.touched && snarlrt.profiling)
		snarlrt_profile_fresh(granule_of(s), (uint64_t)(end - s));
}

/*
 * Big blocks, stacks above all, are mostly untouched, and so is their shadow: only
 * the pages that are there are looked at, and go back to the kernel.
 */
static void fresh_big(struct snarlrt_thread *self, uint16_t *s, uint16_t *end)
{
	uint64_t low = ((uint64_t)s + PAGE - 1) & ~(PAGE - 1), high = (uint64_t)end & ~(PAGE - 1);
	unsigned char there[512];

	fresh_some(self, s, (uint16_t *)low);
	fresh_some(self, (uint16_t *)high, end);
	for (uint64_t at = low; at < high; at += sizeof(there) * PAGE) {
		uint64_t pages = (high - at) / PAGE;

		if (pages > sizeof(there))
			pages = sizeof(there);
		if (sys_call(SYS_mincore, at, pages * PAGE, there) != 0)
			for (uint64_t i = 0; i < pages; i++)
				there[i] = 1;
		for (uint64_t i = 0; i < pages; i++)
			if (there[i] & 1)
				fresh_some(self, (uint16_t *)(at + i * PAGE),
					   (uint16_t *)(at + (i + 1) * PAGE));
	}
	sys_call(SYS_madvise, low, high - low, MADV_DONTNEED);
}

void snarlrt_fresh(const void *start, size_t size)
{
	uint64_t addr = (uint64_t)start, end = (addr + size) & ~7ull;
	struct snarlrt_thread *self;
	uint16_t *s, *last;

	if (unlikely(snarlrt.mode >= SNARLRT_CONTROL)) {
		if (snarlrt.mode == SNARLRT_WATCH)
			watch_fresh(addr, size);
		else
			ctl_fresh(addr, size);
		return;
	}
	addr = (addr + 7) & ~7ull;
	if (!snarlrt.filter || addr >= end || end > USER_END)
		return;
	self = snarlrt_enter();
	if (!self)
		return;
	s = shadow_of(addr);
	last = shadow_of(end);
	if ((uint64_t)last - (uint64_t)s >= BIG)
		fresh_big(self, s, last);
	else
		fresh_some(self, s, last);
	snarlrt_leave(self);
}

/*
 * Blocks that threads hand to each other are private first and shared then, and each
 * word of them is looked at twice on the way. Where the blocks of one allocation site
 * always come to that, the next ones are born shared: what is kept too much is little.
 * Some are still born as nobody's, to see whether it stays so.
 */
#define SITES 1024u
#define BIRTHS 4096u
#define HABIT 8u	/* blocks in a row that came to be shared */
#define WATCH 32u	/* one in so many is */

static uint8_t habits[SITES];
static uint64_t births[BIRTHS];	/* by address: address / 16 and the site's number */

static inline uint64_t *birth_of(uint64_t addr)
{
	return &births[addr * 0x9e3779b97f4a7c15ull >> 52];
}

static bool born_shared(struct snarlrt_thread *self, uint64_t addr, const void *pc)
{
	uint64_t site = (uint64_t)pc * 0x9e3779b97f4a7c15ull >> 54;

	__atomic_store_n(birth_of(addr), addr >> 4 << 10 | site, __ATOMIC_RELAXED);
	return __atomic_load_n(&habits[site], __ATOMIC_RELAXED) >= HABIT &&
	       ++self->births % WATCH != 0;
}

void snarlrt_born(const void *start, size_t size, const void *pc)
{
	uint64_t addr = (uint64_t)start;
	struct snarlrt_thread *self;

	snarlrt_fresh(start, size);
	if (!snarlrt.filter || !snarlrt.threaded || size > BLOCK_MAX || addr % 16 ||
	    addr > USER_END - BLOCK_MAX)
		return;
	self = snarlrt_enter();
	if (!self)
		return;
	if (born_shared(self, addr, pc))
		fill(shadow_of(addr), shadow_of(addr + size), SHADOW_SHARED);
	snarlrt_leave(self);
}

/* Two threads that learn at the same time may forget each other's: it is but a habit. */
static void learn(uint64_t site, bool shared)
{
	uint8_t habit = __atomic_load_n(&habits[site], __ATOMIC_RELAXED);

	if (!shared)
		habit = 0;
	else if (habit < HABIT)
		habit++;
	__atomic_store_n(&habits[site], habit, __ATOMIC_RELAXED);
}

void snarlrt_died(const void *start, size_t size)
{
	uint64_t addr = (uint64_t)start;
	uint64_t birth = __atomic_load_n(birth_of(addr), __ATOMIC_RELAXED);

	if (snarlrt.filter && birth >> 10 == addr >> 4 && size <= BLOCK_MAX)
		learn(birth & (SITES - 1), count(shadow_of(addr), shadow_of(addr + size)).shared);
	snarlrt_fresh(start, size);
}

/*
 * Blocks of the heap are born as what those of the same site always came to be.
 *
 * Blocks that threads hand to each other are private first and shared then, and each
 * word of them is looked at twice on the way. Where the blocks of a site always come to
 * that, the next ones are born shared: what is kept too much is little. Some are still
 * born as nobody's, to see whether it stays so. When they are freed they stay shared, so that
 * the next one that is born there is without anything being done.
 *
 * Blocks that stay with their thread, the tables of a compressor for instance, have all
 * that is done to them recorded, kept for the length of the window and dropped, each
 * of them anew. Once the window has been full, so that history is cut anyway, buffers of
 * a site where all stayed with their thread are born as the thread's own, with their history
 * cut. Should one be shared after all it is noticed as ever, and the site starts anew.
 * Small blocks are left alone: little is done to each, and if one of a million
 * is handed on, what happened to it before is of interest.
 *
 * A site is that of the allocation and the two calls around it, since many
 * programs wrap malloc.
 */
#include "abi/mix.h"
#include "runtime/record/allocation_sites.h"
#include "runtime/record/clock.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow.h"

#define SITES 4096u
#define SHARED_BLOCKS 8	/* blocks in a row that came to be shared */
#define WATCHED_SHARE 32u	/* one in so many is born as nobody's all the same */
#define PRIVATE_BLOCKS 32	/* blocks in a row that stayed private; one counts once more */
#define BLOCK_WEIGHT 4096u	/* … for each of so many bytes */
#define BUFFER 4096u	/* bytes; smaller ones are not born private */
#define BIG (64u << 10)	/* larger ones become private as they are touched; not born shared */
#define PAGE 4096ull
#define USER_END (1ull << 47)

static int8_t streaks[SITES];	/* blocks in a row: > 0 shared, < 0 private */

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	return mix_spread(h ^ v);
}

/* By address: address / 16, site, thread. */
static inline uint64_t *block_word_of(uint64_t addr)
{
	return clock_block_of((const void *)addr);
}

static inline uint64_t make_block_word(uint64_t addr, uint64_t site, uint32_t thread)
{
	return addr >> 4 << 21 | site << 9 | (thread & 511);
}

static uint64_t site_of(const struct snarlrt_thread *self, const void *pc)
{
	const struct snarlrt_frame *frame = __snarl_tls.frame;
	uint64_t h = mix(0, (uint64_t)pc);

	for (int i = 0; i < 2 && frame > self->frames; i++) {
		frame--;
		h = mix(h ^ h >> 32, frame->caller);
	}
	return h >> 52;
}

/* The last few are remembered; of others, what is not touched yet is nobody's. */
static void claim(struct snarlrt_thread *self, uint64_t addr, uint64_t size, uint64_t birth)
{
	self->claim[self->claims++ % SNARLRT_CLAIMS] = (struct snarlrt_claim){ addr, size, birth };
}

/* A claim on an earlier block there would look as if it were on this one. */
static void drop_claim(struct snarlrt_thread *self, uint64_t addr)
{
	for (unsigned i = 0; i < SNARLRT_CLAIMS; i++)
		if (self->claim[i].start == addr)
			self->claim[i].size = 0;
}

/* All but some of those where the streak is. */
static inline bool begins_shared(struct snarlrt_thread *self, int streak, uint64_t size)
{
	return streak >= SHARED_BLOCKS && size <= BIG && ++self->births % WATCHED_SHARE != 0;
}

static void begin_block(struct snarlrt_thread *self, uint64_t addr, uint64_t size, const void *pc)
{
	uint64_t site = site_of(self, pc), birth = make_block_word(addr, site, self->id);
	int streak = __atomic_load_n(&streaks[site], __ATOMIC_RELAXED);
	bool shared = begins_shared(self, streak, size);

	__atomic_store_n(block_word_of(addr), birth, __ATOMIC_RELAXED);
	if (self->claims)
		drop_claim(self, addr);
	if (shared && shadow_is(addr, size, shadow_shared()))
		return;		/* it stayed so */
	shadow_reset(self, addr, size);
	if (shared) {
		shadow_fill(addr, size, shadow_shared());
	} else if (streak <= -PRIVATE_BLOCKS && size >= BUFFER && __snarl_tls.own_uncut &&
		   __atomic_load_n(&snarlrt.live->cut_records, __ATOMIC_RELAXED)) {
		if (size <= BIG)
			shadow_fill(addr, size, __snarl_tls.own);
		else
			claim(self, addr, size, birth);
	}
}

/* snarlrt_note where a program is only recorded, of kinds that are frequent: to enter and to leave once for all that is to be done takes a tenth less. */
static inline __attribute__((always_inline)) void note(struct snarlrt_thread *self, enum trace_kind kind, uint64_t addr, uint64_t size,
						       const void *pc)
{
	uint64_t time;

	if (__snarl_tls.told != __snarl_tls.frame)
		snarlrt_tell_frames(self);
	if (unlikely(snarlrt_near_end()))
		snarlrt_make_room(self);
	time = clock_event(self, (const void *)addr);
	snarlrt_append_two(self, addr & TRACE_ADDR_MASK, TRACE_SITE(kind, 0, pc), time, size);
}

static inline bool records_blocks(void)
{
	return likely(mode_records() && snarlrt.filter);
}

void birth_note(const void *start, size_t room, size_t size, const void *pc)
{
	uint64_t addr = (uint64_t)start;
	struct snarlrt_thread *self;

	if (!records_blocks()) {
		snarlrt_fresh(start, room);
		snarlrt_note(TRACE_MALLOC, 0, start, size, 0, pc);
		return;
	}
	self = snarlrt_enter();
	if (!self)
		return;
	if (snarlrt.threaded && addr % 16 == 0 && addr < USER_END && room <= USER_END - addr)
		begin_block(self, addr, room, pc);
	else
		shadow_reset(self, addr, room);
	if (likely(!snarlrt.profiling))
		note(self, TRACE_MALLOC, addr, size, pc);
	snarlrt_leave(self);
	if (unlikely(snarlrt.profiling))
		snarlrt_note(TRACE_MALLOC, 0, start, size, 0, pc);
}

bool allocation_claim_page(struct snarlrt_thread *self, uint64_t addr)
{
	for (unsigned i = 0; i < SNARLRT_CLAIMS; i++) {
		const struct snarlrt_claim *c = &self->claim[i];
		uint64_t low = addr & ~(PAGE - 1), high = low + PAGE;

		/* It may have been freed meanwhile. */
		if (addr - c->start >= c->size ||
		    __atomic_load_n(block_word_of(c->start), __ATOMIC_RELAXED) != c->birth)
			continue;
		if (low < c->start)
			low = c->start;
		if (high > c->start + c->size)
			high = (c->start + c->size) & ~7ull;
		shadow_claim(low, high - low);
		return true;
	}
	return false;
}

/* Two threads that update_streak at the same time may forget each other's: it is but a streak. */
static void update_streak(int8_t *at, uint64_t birth, uint32_t thread, uint64_t size, const struct shadow_census *c)
{
	int known = __atomic_load_n(at, __ATOMIC_RELAXED), streak = known;

	if (c->shared)
		streak = streak < 0 ? 1 : streak + (streak < SHARED_BLOCKS);
	else if (c->others || (birth & 511) != (thread & 511) || streak > 0)
		streak = 0;
	else if (c->touched)
		streak -= 1 + (int)((size < BIG ? size : BIG) / BLOCK_WEIGHT);
	if (streak < -PRIVATE_BLOCKS)
		streak = -PRIVATE_BLOCKS;
	if (streak != known)	/* other threads look here, too */
		__atomic_store_n(at, (int8_t)streak, __ATOMIC_RELAXED);
}

/*
 * It is shared all over, as the next one there will be: its shadow is left as it is. To forget and to fill it again would bring
 * each cache line of it from one thread's processor to the other's four times.
 */
static inline bool stays_shared(const int8_t *streak, uint64_t addr, uint64_t size)
{
	return __atomic_load_n(streak, __ATOMIC_RELAXED) >= SHARED_BLOCKS && size <= BIG && !snarlrt.profiling &&
	       shadow_is(addr, size, shadow_shared());
}

static void end_block(struct snarlrt_thread *self, uint64_t addr, size_t size)
{
	uint64_t *slot = block_word_of(addr), birth = __atomic_load_n(slot, __ATOMIC_RELAXED);
	int8_t *streak = &streaks[birth >> 9 & (SITES - 1)];
	struct shadow_census c;

	if (birth >> 21 != addr >> 4) {
		shadow_reset(self, addr, size);
		return;
	}
	if (!stays_shared(streak, addr, size)) {
		c = shadow_reset(self, addr, size);
		update_streak(streak, birth, self->id, size, &c);
	}
	if (size > BIG)		/* there may be a claim */
		__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
}

void birth_note_end(const void *start, size_t room, const void *pc)
{
	struct snarlrt_thread *self;

	if (!records_blocks()) {
		snarlrt_note(TRACE_FREE, 0, start, 0, 0, pc);
		snarlrt_fresh(start, room);
		return;
	}
	if (unlikely(snarlrt.profiling))
		snarlrt_note(TRACE_FREE, 0, start, 0, 0, pc);
	self = snarlrt_enter();
	if (!self)
		return;
	if (likely(!snarlrt.profiling))
		note(self, TRACE_FREE, (uint64_t)start, 0, pc);
	end_block(self, (uint64_t)start, room);
	snarlrt_leave(self);
}

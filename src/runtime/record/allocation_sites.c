/*
 * Predicts for each heap block whether threads will share it, from earlier blocks of the same
 * allocation site, and initialises its shadow accordingly.
 *
 * Blocks that threads hand to each other are private at first and shared then, so each word changes
 * its shadow twice. If the last SHARED_BLOCKS blocks of a site all became shared, the next one
 * begins as shared. That keeps only few records too many. One block in WATCHED_SHARE still begins
 * as new memory, to see whether the prediction holds. When such blocks are freed their shadow stays
 * shared, so that the next block there needs no work.
 *
 * Blocks that stay with their thread, the tables of a compressor for instance, have all their
 * accesses recorded, kept for the length of the window and dropped, block after block. Once the
 * window has been full, so that history is cut anyway, buffers of a site whose blocks all stayed
 * private begin as the thread's own, with their history cut. If one is shared later, that is
 * noticed and counted, and the site's streak starts again. Small blocks are excluded: little is
 * done to each, and if one in a million is handed on, its early history matters.
 *
 * An allocation site is the pc of the allocation and the two calls around it, since many programs
 * wrap malloc.
 */
#include "abi/mix.h"
#include "runtime/record/allocation_sites.h"
#include "runtime/record/clock.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow.h"

#define SITES 4096u
#define SHARED_BLOCKS 8	/* shared blocks in a row after which blocks begin as shared */
#define WATCHED_SHARE 32u	/* one block in this many begins as new memory nevertheless */
/* Weight of private blocks in a row after which buffers begin as private. */
#define PRIVATE_BLOCKS 32
/* Bytes: a private block has weight 1, and 1 more for each of these. */
#define BLOCK_WEIGHT 4096u
#define BUFFER 4096u	/* bytes; smaller blocks never begin as private */
/* Bytes; larger blocks become private page by page (claims), and never begin as shared. */
#define BIG (64u << 10)
#define PAGE 4096ull
#define USER_END (1ull << 47)

/* Per allocation site: > 0 shared blocks in a row, < 0 weight of private ones. */
static int8_t streaks[SITES];

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	return mix_spread(h ^ v);
}

/* The word of a block, by its address: address / 16, site, thread. */
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

/*
 * Claims a big block. The thread's last SNARLRT_CLAIMS claims are kept; untouched memory of older
 * ones counts as new.
 */
static void claim(struct snarlrt_thread *self, uint64_t addr, uint64_t size, uint64_t birth)
{
	self->claim[self->claims++ % SNARLRT_CLAIMS] = (struct snarlrt_claim){ addr, size, birth };
}

/* Drops the claim on an earlier block at this address, or the new block would inherit it. */
static void drop_claim(struct snarlrt_thread *self, uint64_t addr)
{
	for (unsigned i = 0; i < SNARLRT_CLAIMS; i++)
		if (self->claim[i].start == addr)
			self->claim[i].size = 0;
}

/* Whether a block begins as shared: all but one in WATCHED_SHARE of sites with shared blocks. */
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
		return;		/* it stayed shared */
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

/*
 * snarlrt_note() for these frequent kinds in mode record. The caller has entered already; entering
 * and leaving once per call of malloc saves a tenth.
 */
static inline __attribute__((always_inline)) void note(struct snarlrt_thread *self,
						       enum trace_kind kind, uint64_t addr,
						       uint64_t size, const void *pc)
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

		/* The block may have been freed meanwhile. */
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

/* Updates a site's streak. Of two updates at once, one may be lost, which does no harm. */
static void update_streak(int8_t *at, uint64_t birth, uint32_t thread, uint64_t size,
			  const struct shadow_census *c)
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
	if (streak != known)	/* avoid writing a cache line that other threads read */
		__atomic_store_n(at, (int8_t)streak, __ATOMIC_RELAXED);
}

/*
 * Whether the freed block's shadow can stay as it is: all of it is shared, and the next block there
 * will begin as shared. Resetting and filling it again would move each of its cache lines between
 * two processors four times.
 */
static inline bool stays_shared(const int8_t *streak, uint64_t addr, uint64_t size)
{
	return __atomic_load_n(streak, __ATOMIC_RELAXED) >= SHARED_BLOCKS && size <= BIG &&
	       !snarlrt.profiling && shadow_is(addr, size, shadow_shared());
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
	if (size > BIG)		/* a claim may refer to this word */
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

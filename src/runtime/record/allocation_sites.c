/*
 * Predicts for each heap block whether threads will share it, from earlier blocks of the same
 * allocation site, and initialises its shadow accordingly.
 *
 * Blocks that become shared: the shadow of each granule changes twice, from untouched to owned to
 * shared. If the last SHARED_BLOCKS blocks of a site all became shared, the next one begins as
 * shared. The cost is that its first accesses, by one thread, are recorded for nothing. One block
 * in WATCHED_SHARE still begins as new memory, to see whether the prediction holds. When shared
 * blocks of such sites are freed, their shadow stays shared, so that the next block there needs no
 * work.
 *
 * Blocks that stay private, such as the tables of a compressor: all their accesses are recorded,
 * kept for the length of the window and dropped, block after block. So once the window has been
 * full, which means that history is cut anyway, a buffer of a site whose blocks all stayed private
 * begins as the thread's own and cut. If such a block becomes shared later, it is counted
 * (cut_locations), and the site's streak starts again. Small blocks never begin so: each has few
 * accesses, and if one in a million is handed to another thread, its early history matters.
 *
 * An allocation site is the pc of the allocation and the two innermost calls, since many programs
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
/* A private block has weight 1, and 1 more for each of these bytes. */
#define BLOCK_WEIGHT 4096u
#define BUFFER 4096u	/* bytes; smaller blocks never begin as private */
/* Bytes; larger blocks begin as private page by page (claims), and never as shared. */
#define BIG (64u << 10)
#define PAGE 4096ull
#define USER_END (1ull << 47)

/* Per allocation site: > 0 shared blocks in a row, < 0 weight of private ones. */
static int8_t streaks[SITES];

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	return mix_spread(h ^ v);
}

/* The block word of the block at this address; another block may have overwritten it. */
static inline uint64_t *block_word_of(uint64_t addr)
{
	return clock_block_of((const void *)addr);
}

/* A block word: address / 16, number of the allocation site, low bits of the thread id. */
static inline uint64_t make_block_word(uint64_t addr, uint64_t site, uint32_t thread)
{
	return addr >> 4 << 21 | site << 9 | (thread & 511);
}

/* The number of the allocation site, below SITES. */
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
 * Claims a big block: each page becomes the thread's own and cut when the thread first accesses it.
 * Only the thread's last SNARLRT_CLAIMS claims are kept.
 */
static void claim(struct snarlrt_thread *self, uint64_t addr, uint64_t size, uint64_t birth)
{
	self->claim[self->claims++ % SNARLRT_CLAIMS] = (struct snarlrt_claim){ addr, size, birth };
}

/* Drops the claim on an earlier block at this address: it must not hold for the new block. */
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
		return;		/* its shadow stayed shared when the last block there was freed */
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
 * snarlrt_note() for allocations and frees in mode record. The caller has called snarlrt_enter()
 * already, which saves a second one per call of malloc.
 */
static inline __attribute__((always_inline)) void note(struct snarlrt_thread *self,
						       enum trace_kind kind, uint64_t addr,
						       uint64_t size, const void *pc)
{
	uint64_t time;

	if (__snarl_tls.emitted != __snarl_tls.frame)
		snarlrt_emit_calls(self);
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

/* Updates a site's streak. If two threads do so at once, one update may be lost: harmless. */
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

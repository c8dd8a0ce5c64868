/*
 * Shadow memory: which threads have accessed each granule, and so which accesses are recorded.
 * abi/layout.h defines the values of the shadow word.
 *
 * Example: thread 1 (uncut 2, cut 3) writes an int at 0x601040 twice, then thread 2 (uncut 4, cut
 * 5) reads it. W and R are the raw records { 0x601040, kind, detail and pc } of these accesses;
 * records of other memory are not shown. Chunk 1/0 is the first chunk of thread 1.
 *
 *   event                                        word    ring 1  ring 2  undecided chunks
 *   no access yet                                0
 *   thread 1 writes                              2       W
 *   thread 1 writes again                        2       W W
 *   ring 1 is full: it becomes chunk 1/0         2                       1/0: W W
 *   thread 2 reads                               0xffff          R       1/0: W W
 *   chunk 1/0 is decided: W W go to the trace    0xffff          R
 *
 * If the window is full before thread 2 reads, the granule's history is cut:
 *
 *   chunk 1/0 is decided: W W are dropped,       3
 *     live_header.cut_records += 2
 *   thread 1 writes again: compiled code         3
 *     finds tls.own, which is 3
 *   thread 2 reads: live_slot.cut_locations      0xffff          R
 *     += 1, since the trace lacks W W W
 *
 * The functions use no vector registers (Makefile): code of loops calls them while these registers
 * hold values of the program.
 */
#ifndef RUNTIME_RECORD_SHADOW_H
#define RUNTIME_RECORD_SHADOW_H

#include "runtime/core/runtime.h"

enum shadow_verdict {
	/* The thread's own memory, and its history is cut: do not record the access. */
	SHADOW_DROP,
	SHADOW_UNDECIDED,	/* the thread's own memory: record the access as undecided */
	SHADOW_KEEP,		/* shared memory: record the access */
};

/* The shadow word of shared memory. */
static inline uint16_t shadow_shared(void)
{
	return snarlrt_timed ? SHADOW_TIMED : SHADOW_SHARED;
}

/*
 * A flag for each line of 64 bytes of memory, by the low bits of the line's number: a granule of it
 * became shared after its history was cut. In lines without the flag, the trace lacks no access to
 * shared memory: granules that one thread accesses in the trace are indeed unshared
 * (trace/sites/shared_granules.h).
 */
#define SHADOW_CUT_LINE 6	/* log2 of a line's bytes */
#define SHADOW_CUT_LINES (1u << 18)
extern SNARLRT_HIDDEN uint8_t snarlrt_cut_lines[SHADOW_CUT_LINES];

/*
 * Counts `granules` granules at `addr`, all of one line, that became shared after their history was
 * cut.
 */
static inline void shadow_count_cut(const struct snarlrt_tls *tls, uint64_t addr, unsigned granules)
{
	uint8_t *line = &snarlrt_cut_lines[(addr >> SHADOW_CUT_LINE) % SHADOW_CUT_LINES];

	tls->self->live->cut_locations += granules;
	if (!__atomic_load_n(line, __ATOMIC_RELAXED))
		__atomic_store_n(line, 1, __ATOMIC_RELAXED);
}

/* Prefetches the shadow word of `addr`, which may be any number. */
static inline void shadow_prefetch(uint64_t addr)
{
	__builtin_prefetch(shadow_of(addr));
}

/*
 * Sharing sites, from the list of sites: memory that such a site is the first to access becomes
 * shared at once (trace/sites/rarely_touched.c). One bit for each value of the low 16 bits of a pc:
 * other sites may share a bit, which only keeps more records. Only snarlrt_touch
 * (shadow_x86_64.S) tests them; it handles most first accesses.
 */
#define SHARING_SITE_BITS 65536u
extern SNARLRT_HIDDEN bool snarlrt_sharing_any;	/* at least one bit is set */
extern SNARLRT_HIDDEN uint32_t snarlrt_sharing_sites[SHARING_SITE_BITS / 32];

static inline void shadow_add_sharing_site(uint64_t pc)
{
	snarlrt_sharing_sites[pc % SHARING_SITE_BITS / 32] |= 1u << pc % 32;
	snarlrt_sharing_any = true;
}

/* Reserves the address space of the shadow, once; exits with a message if that fails. */
SNARLRT_HIDDEN void shadow_map(void);

/*
 * The current thread accesses [addr, addr + size). Updates the shadow and returns the greatest
 * verdict of the granules.
 */
SNARLRT_HIDDEN enum shadow_verdict shadow_touch(uint64_t addr, uint64_t size);

/*
 * shadow_touch() for memory that a loop accesses without gaps. Returns 1 << verdict for each
 * verdict that some granule has. The memory ends below SHADOW_USER_END.
 */
SNARLRT_HIDDEN unsigned shadow_touch_all(uint64_t addr, uint64_t size);

/*
 * shadow_touch_all(), but stops before the first granule with which the range would have both
 * SHADOW_DROP and SHADOW_KEEP. *size becomes the number of bytes before it.
 */
SNARLRT_HIDDEN unsigned shadow_touch_run(uint64_t addr, uint64_t *size);

/* Sets the shadow words of a range that no other thread can access yet. */
SNARLRT_HIDDEN void shadow_fill(uint64_t addr, uint64_t size, uint16_t value);

/* Whether all shadow words of a range have this value. */
SNARLRT_HIDDEN bool shadow_is(uint64_t addr, uint64_t size, uint16_t value);

/* Bytes of memory from which on the cost of calling shadow_touch() does not matter. */
#define SHADOW_SMALL 256u

/*
 * Whether all shadow words of a small range have this value. Reads four at a time, maybe beyond the
 * range: shadow exists for all memory.
 */
static inline bool shadow_small_is(uint64_t addr, size_t size, uint16_t value)
{
	uint64_t four = value * 0x0001000100010001ull, seen;
	uintptr_t s = SHADOW_BASE + (addr >> 3) * 2,
		  last = SHADOW_BASE + ((addr + size - 1) >> 3) * 2;

	if (addr > TRACE_ADDR_MASK >> 1)
		return false;	/* not a user address: the program is about to crash */
	for (; s + 6 <= last; s += 8) {
		__builtin_memcpy(&seen, (const void *)s, sizeof(seen));
		if (seen != four)
			return false;
	}
	if (s > last)
		return true;
	__builtin_memcpy(&seen, (const void *)s, sizeof(seen));
	return (seen ^ four) << (48 - 8 * (last - s)) == 0;
}

/* Makes all untouched granules of a range the current thread's own and cut. */
SNARLRT_HIDDEN void shadow_claim(uint64_t addr, uint64_t size);

/* What the shadow of a range held before it was reset. */
struct shadow_census {
	bool shared, touched;	/* at least one granule was shared; at least one was accessed */
	bool others;		/* at least one was another thread's; may be false if `shared` */
};

/*
 * Resets the shadow of memory that is allocated or freed to untouched. Called between
 * snarlrt_enter() and snarlrt_leave().
 */
SNARLRT_HIDDEN struct shadow_census shadow_reset(struct snarlrt_thread *self, uint64_t addr,
						  uint64_t size);

#endif

/*
 * Who touched which memory: abi/layout.h has the values. Nothing here uses vector registers
 * (Makefile): loops come here while these hold values of the program.
 */
#ifndef RUNTIME_RECORD_SHADOW_H
#define RUNTIME_RECORD_SHADOW_H

#include "runtime/core/runtime.h"

enum shadow_verdict {
	SHADOW_DROP,		/* private, history cut: forget the access */
	SHADOW_UNDECIDED,	/* private so far */
	SHADOW_KEEP,		/* shared */
};

/* What shared memory has. */
static inline uint16_t shadow_shared(void)
{
	return snarlrt_timed ? SHADOW_TIMED : SHADOW_SHARED;
}

/*
 * Lines of 64 bytes with memory that came to be shared after its history was cut, by the low bits of their numbers: what one thread alone
 * touched elsewhere, as the trace tells it, is its own (trace/sites/shared_granules.h).
 */
#define SHADOW_CUT_LINE 6	/* log2 */
#define SHADOW_CUT_LINES (1u << 18)
extern SNARLRT_HIDDEN uint8_t snarlrt_cut_lines[SHADOW_CUT_LINES];

/* So many granules at `addr`, all of one line, whose history was cut came to be shared. */
static inline void shadow_count_cut(const struct snarlrt_tls *tls, uint64_t addr, unsigned granules)
{
	uint8_t *line = &snarlrt_cut_lines[(addr >> SHADOW_CUT_LINE) % SHADOW_CUT_LINES];

	tls->self->live->cut_locations += granules;
	if (!__atomic_load_n(line, __ATOMIC_RELAXED))
		__atomic_store_n(line, 1, __ATOMIC_RELAXED);
}

/* It will be asked for; may be any number. */
static inline void shadow_prefetch(uint64_t addr)
{
	__builtin_prefetch(shadow_of(addr));
}

/*
 * Places that share what they are the first to touch, by the low bits of their pcs: it is never wrong to keep more, so it
 * does not matter that others have the same. Those of snarlrt_touch only, which most first touches of memory are.
 */
#define SHADOW_PLACES 65536u
extern SNARLRT_HIDDEN bool snarlrt_sharing;	/* there is one */
extern SNARLRT_HIDDEN uint32_t snarlrt_sharing_places[SHADOW_PLACES / 32];

static inline void shadow_share_at(uint64_t pc)
{
	snarlrt_sharing_places[pc % SHADOW_PLACES / 32] |= 1u << pc % 32;
	snarlrt_sharing = true;
}

/* Reserves the address space, once; dies with a message if that is not possible. */
SNARLRT_HIDDEN void shadow_map(void);

/* The current thread touches [addr, addr + size): updates owners. */
SNARLRT_HIDDEN enum shadow_verdict shadow_touch(uint64_t addr, uint64_t size);

/*
 * The same for memory that many accesses touched: 1 << verdict for each verdict that there was. The memory
 * ends below 1 << 47.
 */
SNARLRT_HIDDEN unsigned shadow_touch_all(uint64_t addr, uint64_t size);

/* The same, up to where it would be both dropped and kept: the size becomes that of the memory before that. */
SNARLRT_HIDDEN unsigned shadow_touch_run(uint64_t addr, uint64_t *size);

/* Makes each granule of it, which nobody else may know yet, `value`. */
SNARLRT_HIDDEN void shadow_fill(uint64_t addr, uint64_t size, uint16_t value);

/* Whether each granule of it is. */
SNARLRT_HIDDEN bool shadow_is(uint64_t addr, uint64_t size, uint16_t value);

/* What of it is nobody's becomes the current thread's, with its history cut. */
SNARLRT_HIDDEN void shadow_claim(uint64_t addr, uint64_t size);

/* What memory was when its owners were forgotten. */
struct shadow_census {
	bool shared, touched;	/* at least one granule was */
	bool others;		/* … was another thread's; not said if one was shared */
};

/* snarlrt_fresh between enter and leave. */
SNARLRT_HIDDEN struct shadow_census shadow_forget(struct snarlrt_thread *self, uint64_t addr,
						  uint64_t size);

#endif

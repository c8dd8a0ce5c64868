/*
 * Who touched which memory: see the top of rt.h for the values. Nothing here uses vector registers
 * (Makefile): loops come here while these hold values of the program.
 */
#ifndef RUNTIME_SHADOW_H
#define RUNTIME_SHADOW_H

#include "runtime/rt.h"

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

/* So many granules whose history was cut came to be shared. */
static inline void shadow_count_cut(const struct snarlrt_tls *tls, unsigned granules)
{
	tls->self->live->cut_locations += granules;
}

/* It will be asked for; may be any number. */
static inline void shadow_prefetch(uint64_t addr)
{
	__builtin_prefetch((const void *)(SHADOW_BASE + (addr >> 3) * 2));
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

/*
 * An access thread `id` made at or after `time` and that is no longer waited for:
 * true if another thread came to share the memory. Otherwise its history is
 * cut, and from now on the owner's accesses to it are not kept.
 */
SNARLRT_HIDDEN bool shadow_decide(uint32_t id, uint64_t time, uint64_t addr, uint64_t size,
				  bool cut);

enum { SHADOW_SOME_DROP = 1, SHADOW_SOME_KEEP = 2 };

/* The same for an access of a loop in all its turns: what there was. */
SNARLRT_HIDDEN unsigned shadow_decide_loop(uint32_t id, uint64_t time, uint64_t addr, uint64_t stride,
					   uint64_t turns, uint64_t size, bool cut);

/* Makes each granule of it, which nobody else may know yet, `value`. */
SNARLRT_HIDDEN void shadow_fill(uint64_t addr, uint64_t size, uint16_t value);

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

/*
 * What a thread knows of memory, so that the end of a loop over it need not look at its shadow (loop_end_x86_64.S).
 *
 * Each thread has some long stretches that are its own, with their history cut, found by where the memory lies: a word
 * each, so that a signal never finds half of one. And for the memory that each end of a loop goes over it has
 * what was there last: a stretch that is its own and cut, or shared (wrap/loops_end.c asks).
 *
 * Who makes a thread's memory something else first changes the shadow and then stirs its owner up; the
 * owner believes nothing that it knows while it is stirred up, and when it calms down it forgets all of
 * that before it looks at the shadow again. What a thread frees itself stirs it up, too. Shared memory stays so until it is
 * freed: who does that stirs all up who know of shared memory.
 *
 * Handlers of signals neither learn nor calm down: what they interrupt may have read half of what it believes.
 */
#ifndef RUNTIME_KNOWN_H
#define RUNTIME_KNOWN_H

#include "runtime/rt.h"

#define KNOWN_UNIT_SHIFT 8	/* bytes of shadow: a kilobyte of memory */
#define KNOWN_SLOT_SHIFT 18	/* … a megabyte */
#define KNOWN_COUNT_BITS 26	/* of a word: units; above, the first one */

#define KNOWN_SITES 64u		/* loops take them by their number */

/* Memory of one value: from this byte to that one. */
struct known_site {
	uint64_t first, last;	/* last is 0: none */
	uint64_t shared;	/* or 0: the thread's own */
};

/* wrap/loops_end.c has the offsets as numbers. */
struct known_sites {
	const uint8_t *stirred;	/* 0: the thread's byte; there if there is a site */
	uint32_t unlearnt;	/* 8: so many looks, then something is learnt */
	uint32_t pause;		/* the next value of that */
	struct known_site site[KNOWN_SITES];	/* 16 */
};

extern SNARLRT_EXPORT __thread struct known_sites __snarl_known __attribute__((tls_model("local-exec")));

/* A byte for each owner, in a cache line of its own. */
extern SNARLRT_HIDDEN uint8_t snarlrt_stirred[(SHADOW_MAX_ID + 1u) * 64];

/* The one with this shadow value, cut. */
static inline void known_stir(uint16_t own)
{
	__atomic_store_n(&snarlrt_stirred[(size_t)own << 5], 1, __ATOMIC_RELEASE);
}

/* Nothing is known; a new thread. */
SNARLRT_HIDDEN void known_init(struct snarlrt_thread *self);

/* The shadow of memory that has just been the current thread's own; more may be around it. No vector registers. */
SNARLRT_HIDDEN void snarlrt_known_learn(const uint16_t *first, const uint16_t *end);

/*
 * The memory from one byte to the other is the current thread's own or shared, as a look has just found; more may be around
 * it. `site` is an offset in __snarl_known. No vector registers.
 */
SNARLRT_HIDDEN void snarlrt_known_learn_site(uint64_t first, uint64_t last, uint32_t site);

/* Shared memory has become something else. */
SNARLRT_HIDDEN void known_stir_knowers(void);

/* Whose memory is changed by one who forgets it: ask before, stir up after. */
struct known_owners {
	uint16_t own[4];
	unsigned count;		/* more than fit: anybody's */
};

SNARLRT_HIDDEN void known_owners(struct known_owners *o, const uint16_t *first, const uint16_t *end);
SNARLRT_HIDDEN void known_stir_all(const struct known_owners *o);

#endif

/*
 * Long stretches of memory that a thread knows to be its own, with their history cut, so that the end of a loop over
 * them need not look at their shadow (loop_end_x86_64.S).
 *
 * Each thread has some of them, found by where the memory lies: a word each, so that a signal never finds half
 * of one. Who makes another thread's memory something else first changes the shadow and then stirs its owner up; the
 * owner believes nothing that it knows while it is stirred up, and when it calms down it forgets all of
 * that before it looks at the shadow again. What a thread frees itself stirs it up, too.
 */
#ifndef RUNTIME_KNOWN_H
#define RUNTIME_KNOWN_H

#include "runtime/rt.h"

#define KNOWN_UNIT_SHIFT 8	/* bytes of shadow: a kilobyte of memory */
#define KNOWN_SLOT_SHIFT 18	/* … a megabyte */
#define KNOWN_COUNT_BITS 26	/* of a word: units; above, the first one */

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

/* Whose memory is changed by one who forgets it: ask before, stir up after. */
struct known_owners {
	uint16_t own[4];
	unsigned count;		/* more than fit: anybody's */
};

SNARLRT_HIDDEN void known_owners(struct known_owners *o, const uint16_t *first, const uint16_t *end);
SNARLRT_HIDDEN void known_stir_all(const struct known_owners *o);

#endif

/*
 * The turn log: the turns of a controlled run, which are an exact schedule. The runtime appends to
 * it at every switch. The tool reads it after the run, however that ended.
 *
 * A turn takes one word of 32 bits: thread number, kind, number of steps. If the number of steps
 * does not fit, or if there is a check, two more words hold its upper bits and the check. Turns are
 * kept small because a run may have many millions, and touching a new page of the log costs as much
 * as hundreds of switches.
 */
#ifndef ABI_TURN_LOG_H
#define ABI_TURN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/plan.h"

#define TURN_THREAD_BITS 10u	/* SCHED_MAX_THREADS */
#define TURN_KIND_BITS 3u
#define TURN_MORE (1u << (TURN_THREAD_BITS + TURN_KIND_BITS))	/* two more words follow */
#define TURN_STEPS_SHIFT (TURN_THREAD_BITS + TURN_KIND_BITS + 1)
#define TURN_STEPS_BITS (32 - TURN_STEPS_SHIFT)
#define TURN_WORDS 3u		/* words of the longest turn */

struct turn {
	uint32_t thread;	/* number of the thread */
	uint32_t kind;		/* enum sched_turn_kind */
	uint64_t steps;		/* number of steps; SCHED_TURN_SIGNAL: number of the signal */
	uint32_t check;		/* hash of the turn's events; 0: none */
};

/* Writes a turn to `at`, which has room for TURN_WORDS. Returns how many words it takes. */
static inline size_t turn_put(uint32_t *at, const struct turn *t)
{
	bool more = t->steps >> TURN_STEPS_BITS || t->check;

	at[0] = t->thread | t->kind << TURN_THREAD_BITS | (uint32_t)t->steps << TURN_STEPS_SHIFT;
	if (!more)
		return 1;
	at[0] |= TURN_MORE;
	at[1] = (uint32_t)(t->steps >> TURN_STEPS_BITS);
	at[2] = t->check;
	return TURN_WORDS;
}

/*
 * Reads the turn at words[*at], where words has `count` entries, and moves *at behind it. False:
 * there is none.
 */
static inline bool turn_get(const uint32_t *words, uint64_t count, uint64_t *at, struct turn *out)
{
	uint32_t word;

	if (*at >= count)
		return false;
	word = words[*at];
	*out = (struct turn){
		.thread = word & ((1u << TURN_THREAD_BITS) - 1),
		.kind = word >> TURN_THREAD_BITS & ((1u << TURN_KIND_BITS) - 1),
		.steps = word >> TURN_STEPS_SHIFT,
	};
	*at += 1;
	if (!(word & TURN_MORE))
		return true;
	if (count - *at < TURN_WORDS - 1)
		return false;	/* cut off */
	out->steps |= (uint64_t)words[*at] << TURN_STEPS_BITS;
	out->check = words[*at + 1];
	*at += TURN_WORDS - 1;
	return true;
}

#endif

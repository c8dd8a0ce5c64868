/*
 * The corpus of the strategy `feedback`, in the sense of coverage-guided fuzzing (AFL): schedules
 * of runs that covered something new, and mutations of them. A schedule is a list of turns.
 * Coverage is a bitmap of dependencies between sites (ctl_block.depends).
 *
 * Runs are added in any order and are merged at the end of a generation in the order of their
 * numbers, so the corpus does not depend on which run ended first.
 */
#ifndef EXPLORE_SEARCH_CORPUS_H
#define EXPLORE_SEARCH_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/plan.h"

#define CORPUS_MOST 256u	/* entries; beyond that the one with fewest new bits is replaced */
#define CORPUS_TURNS 16384u	/* turns of a mutation, 384 KiB; longer ones are truncated */
#define CORPUS_BYTES 8192u	/* size of the bitmap, 65536 bits; CTL_DEPENDS_BYTES */

struct corpus_entry {
	struct sched_turn *turns;
	size_t count;
	uint64_t run;		/* run number */
	uint32_t new_bits;	/* bits that this run was the first to set */
};

/* A run of the current generation. */
struct corpus_pending {
	struct corpus_entry entry;
	uint8_t bits[CORPUS_BYTES];
};

struct corpus {
	struct corpus_entry entry[CORPUS_MOST];	/* oldest first */
	size_t count;
	uint8_t seen[CORPUS_BYTES];	/* bits set in earlier generations */
	uint32_t bits;			/* number of bits in `seen` */
	struct corpus_pending **pending;	/* runs of this generation that set new bits */
	size_t pending_count, pending_capacity;
};

void corpus_free(struct corpus *c);

/* Number of the bits that no earlier generation set. If it is not 0, call corpus_add(). */
uint32_t corpus_new(const struct corpus *c, const uint8_t *bits);

/* Adds a run of this generation. Takes ownership of `turns`; the caller keeps `bits`. */
void corpus_add(struct corpus *c, uint64_t run, const uint8_t *bits, struct sched_turn *turns,
		size_t count);

/* Merges the runs of this generation into the corpus. Returns the number of new bits. */
uint32_t corpus_end(struct corpus *c);

/*
 * Writes a mutation of a random entry to `out`, which has room for CORPUS_TURNS turns. Returns the
 * number of turns; 0 if the corpus is empty. Depends on the corpus and *rng alone.
 */
size_t corpus_mutate(const struct corpus *c, uint64_t *rng, struct sched_turn *out);

#endif

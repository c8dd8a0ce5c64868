/*
 * Schedules worth changing: runs that showed what none before had, as turns, and mutations of
 * them. What a run shows is a set of bits (ctl_block.depends).
 *
 * Runs are told in any order and count when a generation is over, in the order of their
 * numbers: what comes of it does not depend on who ended first.
 */
#ifndef EXPLORE_SEARCH_CORPUS_H
#define EXPLORE_SEARCH_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/plan.h"

#define CORPUS_MOST 256u	/* schedules kept; the least telling goes first */
#define CORPUS_TURNS 16384u	/* of a schedule; longer ones are cut off */
#define CORPUS_BYTES 8192u	/* of bits */

struct corpus_entry {
	struct sched_turn *turns;
	size_t count;
	uint64_t run;
	uint32_t fresh;		/* bits that it had first */
};

struct corpus_news {
	struct corpus_entry entry;
	uint8_t bits[CORPUS_BYTES];
};

struct corpus {
	struct corpus_entry entry[CORPUS_MOST];
	size_t count;
	uint8_t seen[CORPUS_BYTES];	/* in all generations before */
	uint32_t bits;			/* … how many */
	struct corpus_news **news;	/* of this one */
	size_t news_count, news_capacity;
};

void corpus_free(struct corpus *c);

/* How many bits has a run that no generation before had? If any, its turns are worth corpus_add(). */
uint32_t corpus_new(const struct corpus *c, const uint8_t *bits);

/* `turns` is the corpus' to free. */
void corpus_add(struct corpus *c, uint64_t run, const uint8_t *bits, struct sched_turn *turns, size_t count);

/* The generation is over; returns how many new bits it had. */
uint32_t corpus_end(struct corpus *c);

/*
 * A mutation of one of them, at most CORPUS_TURNS turns into `out`; returns how many. 0: there is none to
 * change. Depends on the corpus and *rng alone.
 */
size_t corpus_mutate(const struct corpus *c, uint64_t *rng, struct sched_turn *out);

#endif

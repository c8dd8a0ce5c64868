/*
 * Sampling of the memory of a large run. Rules are about sites, and in a loop over a large
 * array each element gives the same rules. To analyse all of them would take too much time and
 * memory.
 *
 * Memory is divided into lines of 64 bytes. The site that touches a line first decides whether the
 * line is taken: the first SAMPLE_SITE_LINES of a site are, later ones with falling probability. A
 * line rests after a burst of SAMPLE_BURST accesses: for twice as many accesses, next time for four
 * times as many, and so on. Bursts get shorter once SAMPLE_ENOUGH accesses of the run were taken.
 * So a small run is taken in full, and a large one with some accesses of every site. Atomic
 * operations order threads, so they are always taken.
 *
 * The same events with the same seed give the same answers, so a trace may be read again.
 */
#ifndef LEARN_FOLD_SAMPLE_H
#define LEARN_FOLD_SAMPLE_H

#include "learn/fold/fold_common.h"

#define SAMPLE_SITE_LINES 256u	/* lines per site that are always taken */
#define SAMPLE_BURST 8192u	/* accesses per line until it rests */
#define SAMPLE_BURST_MIN 64u	/* accesses, however large the run */
#define SAMPLE_ENOUGH (1u << 17)	/* accesses of a run after which bursts get shorter */
#define SAMPLE_LINE 64u	/* bytes */

struct sample;

struct sample *sample_new(uint64_t seed);
void sample_free(struct sample *s);

/* A part of an access that is taken. */
struct sample_part {
	uint64_t addr, size;
	bool after_rest;		/* its line had a rest: earlier accesses are out of date */
};

/*
 * The next part that is taken of an access at `site` to [*addr, end). Moves *addr behind it;
 * false: there is none.
 */
bool sample_next(struct sample *s, uint32_t site, uint64_t *addr, uint64_t end,
		 struct sample_part *part);

/* Memory was allocated or freed: its lines are decided again. */
void sample_fresh(struct sample *s, uint64_t addr, uint64_t size);

#endif

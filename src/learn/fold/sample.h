/*
 * Which memory of a part is looked at. What is learnt is about places in the sources; a loop over a
 * large array teaches the same with each element, and to look at all of them takes more time and
 * memory than anybody has.
 *
 * Memory goes by lines of 64 bytes. Who touches one first decides: of the lines that a place came to
 * first, SAMPLE_SITE_LINES are taken, and of more of them so many by chance, the later the fewer. A line that was accessed
 * SAMPLE_BURST times has a rest of twice as many accesses, the next time of four times as many, and so on; bursts get
 * shorter when more than SAMPLE_ENOUGH accesses have been taken of the part. So small
 * runs are looked at in full, and of all others something is seen of every place. Atomic operations, which
 * order threads, are always taken.
 *
 * The same events with the same seed give the same answers: a trace may be read again.
 */
#ifndef LEARN_FOLD_SAMPLE_H
#define LEARN_FOLD_SAMPLE_H

#include "learn/fold/fold_common.h"

#define SAMPLE_SITE_LINES 256u
#define SAMPLE_BURST 8192u
#define SAMPLE_BURST_MIN 64u
#define SAMPLE_ENOUGH (1u << 17)
#define SAMPLE_LINE 64u	/* bytes */

struct sample;

struct sample *sample_new(uint64_t seed);
void sample_free(struct sample *s);

/* A part of an access that is taken. */
struct sample_part {
	uint64_t addr, size;
	bool after_rest;		/* its line had a rest: what was known of that is out of date */
};

/* The next part of an access at `site` to *addr … end, which moves *addr on; false: there is none. */
bool sample_next(struct sample *s, uint32_t site, uint64_t *addr, uint64_t end, struct sample_part *part);

/* Memory begins after_rest: it is decided again. */
void sample_fresh(struct sample *s, uint64_t addr, uint64_t size);

#endif

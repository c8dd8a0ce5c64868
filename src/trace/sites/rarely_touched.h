/*
 * Places whose memory is shared and seldom touched, by a sample of it. Where that is so it costs more to wait until one
 * knows whether memory is private than to keep what happens there, so that it can be shared from the first touch on.
 */
#ifndef TRACE_SITES_RARELY_TOUCHED_H
#define TRACE_SITES_RARELY_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

#define COLD_SAMPLE 64u		/* of so many granules one is looked at */
#define COLD_MANY 64u		/* a place has to touch so many of these */
#define COLD_ACCESSES 8u	/* to each granule, by all places: on average no more */

struct cold_pair {
	uint64_t pc, granule;
};

/* All zero knows nothing yet. */
struct cold {
	uint64_t told;		/* accesses */
	struct map touched;	/* granule to accesses */
	struct map seen;	/* place and granule, hashed: in `pairs` */
	struct cold_pair *pairs;
	size_t count, capacity;
	struct map granules, accesses;	/* by place; made by cold_end */
};

/* An access to [addr, addr + size). */
void cold_add(struct cold *c, uint64_t pc, uint64_t addr, uint64_t size);

/*
 * All accesses were told; afterwards one may ask. So many to private memory were dropped: if these are more, much that the
 * places are the first to touch may be private, and none is said to be cold.
 */
void cold_end(struct cold *c, uint64_t dropped);
bool cold_is(const struct cold *c, uint64_t pc);

void cold_free(struct cold *c);

#endif

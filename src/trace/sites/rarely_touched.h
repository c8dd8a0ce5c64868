/*
 * Finds sites whose memory is shared but touched rarely, from a sample of granules.
 *
 * The list marks such a site as a sharing site: memory that the site is the first to access becomes
 * shared at once. That costs less than keeping its accesses undecided until a second thread comes.
 * A site qualifies if the granules that it touches have few accesses each on average.
 */
#ifndef TRACE_SITES_RARELY_TOUCHED_H
#define TRACE_SITES_RARELY_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

#define RARELY_SAMPLE 64u		/* one granule in 64 is sampled: bounds memory */
#define RARELY_MIN_GRANULES 64u	/* sampled granules that a site has to touch */
#define RARELY_MAX_ACCESSES 8u	/* average accesses to a granule, by all sites, at most */

/* A site and a sampled granule that it touched. */
struct rarely_touched_pair {
	uint64_t pc, granule;
};

/* All zero is empty. */
struct rarely_touched {
	uint64_t accesses_seen;	/* number of accesses added, sampled or not */
	struct map touched;	/* sampled granule to number of accesses */
	struct map seen;	/* hashes of the site and granule of all pairs */
	struct rarely_touched_pair *pairs;	/* without duplicates */
	size_t count, capacity;
	struct map granules, accesses;	/* by pc; filled by rarely_touched_finish() */
};

/* Adds an access to [addr, addr + size). */
void rarely_touched_add(struct rarely_touched *c, uint64_t pc, uint64_t addr, uint64_t size);

/*
 * Ends adding; from then on rarely_touched_has() may be called. `dropped` is the number of accesses
 * to private memory that the trace lacks. If they outnumber the accesses in the trace, no site
 * qualifies: it may often be the first to touch private memory, which would become shared.
 */
void rarely_touched_finish(struct rarely_touched *c, uint64_t dropped);
bool rarely_touched_has(const struct rarely_touched *c, uint64_t pc);

void rarely_touched_free(struct rarely_touched *c);

#endif

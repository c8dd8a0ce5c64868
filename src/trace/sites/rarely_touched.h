/*
 * Finds sites whose memory is shared but touched rarely, from a sample of granules.
 *
 * At such a site, waiting until memory turns out to be shared costs more than keeping its accesses.
 * The list of sites marks it, and the runtime treats memory as shared from its first touch there
 * on. A site qualifies if the granules it touches have few accesses each on average.
 */
#ifndef TRACE_SITES_RARELY_TOUCHED_H
#define TRACE_SITES_RARELY_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

#define RARELY_SAMPLE 64u		/* one granule in 64 is looked at: bounds memory */
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
 * Ends adding; then rarely_touched_has() may be asked. `dropped` is the number of accesses to
 * private memory that the trace lacks. If they outnumber the accesses in the trace, the sites may
 * often be the first to touch private memory, and no site qualifies.
 */
void rarely_touched_finish(struct rarely_touched *c, uint64_t dropped);
bool rarely_touched_has(const struct rarely_touched *c, uint64_t pc);

void rarely_touched_free(struct rarely_touched *c);

#endif

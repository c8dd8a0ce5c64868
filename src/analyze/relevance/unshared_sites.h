/*
 * Unshared sites: code locations that only access unshared memory (unshared.h), known before the
 * trace is read in order. None of their accesses conflicts with another.
 *
 * Two approximations. Sites are kept as bits by a hash of the pc, so that an unshared site may
 * count as shared because of a collision. An access that spans several granules counts by its
 * first one.
 */
#ifndef ANALYZE_RELEVANCE_UNSHARED_SITES_H
#define ANALYZE_RELEVANCE_UNSHARED_SITES_H

#include "analyze/relevance/unshared.h"

struct unshared_sites {
	uint64_t shared[READER_SITES];	/* bits by reader_site(): sites that access shared memory */
};

/*
 * Fills `sites` in one pass over all accesses and leaves the reader at its first event. If nothing
 * is known about memory, or the trace is damaged, no site is unshared.
 */
void unshared_sites_prescan(struct unshared_sites *sites, const struct unshared *unshared,
			    struct reader *trace);

static inline bool unshared_sites_has(const struct unshared_sites *sites, uint64_t pc)
{
	return !reader_has_site(sites->shared, pc);
}

#endif

/*
 * Places in the code that come only to memory that is alone (alone.h), known before the trace is
 * read in order. Nothing that they do conflicts with anything.
 *
 * By hash of the pc: one may be taken for busy that is not. An access counts by its first granule.
 */
#ifndef ANALYZE_RELEVANCE_UNSHARED_SITES_H
#define ANALYZE_RELEVANCE_UNSHARED_SITES_H

#include "analyze/relevance/unshared.h"

struct idle {
	uint64_t busy[READER_SITES];	/* bits by reader_site() */
};

/* Leaves the reader at its first event. */
void idle_look(struct idle *i, const struct alone *alone, struct reader *trace);

static inline bool idle_has(const struct idle *i, uint64_t pc)
{
	return !reader_has_site(i->busy, pc);
}

#endif

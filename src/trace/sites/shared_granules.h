/*
 * Finds the memory of a trace that two threads touched, by granules of 8 bytes.
 *
 * The runtime also keeps some accesses to private memory, whose sites should not be listed as
 * touching shared memory. Memory counts as shared where that is not known: beyond MAX_PAGES pages,
 * and in cut lines, cache lines whose early accesses may be missing from the trace.
 */
#ifndef TRACE_SITES_SHARED_GRANULES_H
#define TRACE_SITES_SHARED_GRANULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "trace/read/reader.h"

#define SHARED_CUT_LINES (1u << 18)	/* a cache line is known by the low 18 bits of its number */

/* All zero is ready for shared_granules_usable(). */
struct shared_granules {
	struct map pages;	/* page number to uint16_t *: each granule's toucher, or 0 */
	struct map blocks;	/* heap blocks: address to size */
	uint8_t cut[SHARED_CUT_LINES / 8];	/* a bit for each line: it is cut */
};

/*
 * Whether the trace can show that memory is private: it must have all accesses to shared memory,
 * except for those to cut lines. Reads these from the trace's key `cut_lines`.
 */
bool shared_granules_usable(struct shared_granules *o, const struct reader *r);

/* Reads all events, after shared_granules_usable(); leaves the reader at the end. */
int shared_granules_read(struct shared_granules *o, struct reader *r, struct err *err);

/* Whether, in the trace, another thread also touched or freed some of the access's memory. */
bool shared_granules_touched(const struct shared_granules *o, const struct event *ev);

void shared_granules_free(struct shared_granules *o);

#endif

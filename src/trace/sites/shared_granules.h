/*
 * Finds the memory of a trace that two threads touched, by granules of 8 bytes.
 *
 * The runtime also keeps some accesses to private memory, whose sites should not be listed as
 * touching shared memory. The answer is "shared" where it is not known: beyond MAX_PAGES of
 * memory, and in cache lines in which accesses may be missing from the trace.
 */
#ifndef TRACE_SITES_SHARED_GRANULES_H
#define TRACE_SITES_SHARED_GRANULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "trace/read/reader.h"

#define SHARED_CUT_LINES (1u << 18)	/* cache lines go by the low 18 bits of their numbers */

/* All zero is ready for shared_granules_usable(). */
struct shared_granules {
	struct map pages;	/* page number to uint16_t *: each granule's toucher, or 0 */
	struct map blocks;	/* heap blocks: address to size */
	uint8_t cut[SHARED_CUT_LINES / 8];	/* a bit for each line with a cut early history */
};

/*
 * Whether the trace can show that memory is private: it must have all accesses to shared memory,
 * except for those to the lines of its key `cut_lines`, which this reads.
 */
bool shared_granules_usable(struct shared_granules *o, const struct reader *r);

/* Reads all events, after shared_granules_usable(); leaves the reader at the end. */
int shared_granules_read(struct shared_granules *o, struct reader *r, struct err *err);

/* Whether another thread touched some of the memory of an access in the trace, too, or freed it. */
bool shared_granules_touched(const struct shared_granules *o, const struct event *ev);

void shared_granules_free(struct shared_granules *o);

#endif

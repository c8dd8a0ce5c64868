/*
 * Which memory of a trace two threads touched, by granules of 8 bytes, so that what the runtime kept of private
 * memory can be told from what it kept because it was shared. Says "shared" where it does not know: beyond
 * some amount of memory, and in lines of 64 bytes where a touch may have come after one that is not in the trace.
 */
#ifndef TRACE_SITES_SHARED_GRANULES_H
#define TRACE_SITES_SHARED_GRANULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "trace/read/reader.h"

#define OWNERS_CUT_LINES (1u << 18)

/* All zero is ready for owners_can. */
struct owners {
	struct map pages;	/* number of the page to uint16_t *: of each granule who, 0 nobody */
	struct map blocks;	/* of the heap: start to size */
	uint8_t cut[OWNERS_CUT_LINES / 8];	/* by the low bits of their numbers: bits of those with memory whose history was cut */
};

/* Whether the trace tells anything private: it has all accesses to shared memory, but for those in the lines of its key `cut_lines`. */
bool owners_can(struct owners *o, const struct reader *r);

/* Reads all events, after owners_can; the reader stands at the end. */
int owners_read(struct owners *o, struct reader *r, struct err *err);

/* An access of the trace: whether another thread touched some of that memory, too, or freed it. */
bool owners_shared(const struct owners *o, const struct event *ev);

void owners_free(struct owners *o);

#endif

/*
 * What one search teaches the next: shared memory, the failures that were reported, the
 * interleavings seen, and the length of the longest run.
 */
#ifndef EXPLORE_SEARCH_SEARCH_MEMORY_H
#define EXPLORE_SEARCH_SEARCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/control_block.h"
#include "base/map.h"
#include "explore/search/interleavings_seen.h"

/* All zero: nothing is known. */
struct search_memory {
	uint64_t *granules;	/* shared memory, in the order found */
	size_t count, capacity;
	struct map identities;	/* of failures that were reported: how often without proof */
	struct coverage coverage;
	/* The longest run: its steps, its threads, and how many events each thread had. */
	uint64_t length;
	uint32_t threads;
	uint64_t events[CTL_THREADS];
	uint32_t parent[CTL_THREADS];
};

#define SEARCH_DOUBTS 3u	/* failures of one identity that are reported while none is proved */

/* What the caller says to a failure that was reported. */
enum search_answer {
	SEARCH_ENOUGH,		/* end the search */
	SEARCH_MORE,
	SEARCH_DOUBT,		/* go on, and report another one like it: this one was not proved */
};

void search_memory_free(struct search_memory *m);

/* Whether a failure of this identity is to be reported. If so, say what came of it. */
bool search_memory_wants(const struct search_memory *m, uint64_t identity);
void search_memory_answer(struct search_memory *m, uint64_t identity, enum search_answer answer);

#endif

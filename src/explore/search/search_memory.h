/*
 * State that one search passes to the next search of the same program: shared granules, reported
 * failures, interleavings seen, and the length of the longest run.
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
	uint64_t *granules;	/* addresses of shared granules, in the order of discovery */
	size_t count, capacity;	/* of `granules` */
	/* Identity of a reported failure -> number of SEARCH_DOUBT answers; 0: no more reports. */
	struct map identities;
	struct interleavings_seen interleavings;
	bool inconclusive;	/* a run that exceeded a limit was reported */
	/*
	 * The longest run, from which strategies such as pct estimate the length of the next one.
	 */
	uint64_t length;	/* its steps */
	uint32_t threads;	/* its threads */
	uint64_t events[CTL_THREADS];	/* visible events of each thread */
	uint32_t parent[CTL_THREADS];	/* number of each thread's creator */
};

#define SEARCH_DOUBTS 3u	/* reports of a failure that does not replay: another run may */

/* The caller's answer to a reported failure. */
enum search_answer {
	SEARCH_ENOUGH,		/* end the search */
	SEARCH_MORE,		/* continue; report no more failures of this identity */
	SEARCH_DOUBT,		/* continue; it did not replay: report the next of this identity */
};

void search_memory_free(struct search_memory *m);

/* Whether to report a failure of this identity. If so, call search_memory_answer() afterwards. */
bool search_memory_wants(const struct search_memory *m, uint64_t identity);
void search_memory_answer(struct search_memory *m, uint64_t identity, enum search_answer answer);

#endif

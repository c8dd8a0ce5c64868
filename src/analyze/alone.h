/*
 * Memory that can have to do with no other thread, known before the trace is read in order:
 * granules of 8 bytes that one thread alone accesses, and those that nobody writes. What happens
 * there conflicts with nothing.
 *
 * Where nearly all is shared nothing is known. A look through all accesses in no order tells it, which takes a fraction of what an analysis
 * saves by not following them. Memory that is given out anew is the same memory here.
 */
#ifndef ANALYZE_ALONE_H
#define ANALYZE_ALONE_H

#include "trace/reader.h"

#define ALONE_GRANULES 512u	/* of a page */

struct alone {
	struct alone_slot {
		uint64_t key;	/* number of the page, plus 1; 0: free */
		uint32_t page;
	} *slots;		/* by hash */
	size_t slot_count;	/* a power of two */
	uint64_t (*shared)[ALONE_GRANULES / 64];	/* by page, a bit for each granule */
	size_t page_count;
};

/* Leaves the reader at its first event. A damaged trace has nothing alone: reading it says why. */
struct alone *alone_new(struct reader *trace);
void alone_free(struct alone *a);

static inline const struct alone_slot *alone_slot(const struct alone *a, uint64_t key)
{
	size_t i = key * 0x9e3779b97f4a7c15ull >> 40 & (a->slot_count - 1);

	while (a->slots[i].key && a->slots[i].key != key)
		i = (i + 1) & (a->slot_count - 1);
	return &a->slots[i];
}

/* By address / 8. */
static inline bool alone_granule(const struct alone *a, uint64_t granule)
{
	const struct alone_slot *s = alone_slot(a, granule / ALONE_GRANULES + 1);

	return s->key &&
	       !(a->shared[s->page][granule % ALONE_GRANULES / 64] >> granule % 64 & 1);
}

/* All that the access touches. */
static inline bool alone_has(const struct alone *a, const struct event *ev)
{
	uint64_t first = ev->addr / 8, last = (ev->addr + ev->size - 1) / 8;

	if (__builtin_expect(!ev->size || last < first, 0))
		return false;
	while (alone_granule(a, first))
		if (first++ == last)
			return true;
	return false;
}

#endif

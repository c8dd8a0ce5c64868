/*
 * Memory about which threads cannot disagree, known before the trace is read in order, by
 * granules of 8 bytes.
 *
 * Alone: one thread accesses it, or nobody writes. What happens there conflicts with nothing. A
 * look through all accesses in no order tells it, which takes a fraction of what an analysis saves
 * by not following them. Where nearly all is shared nothing is known.
 *
 * Settled: alone, or handed over, or used once, as handed.h says, if that was asked.
 *
 * Memory that is given out anew is the same memory here.
 */
#ifndef ANALYZE_RELEVANCE_UNSHARED_H
#define ANALYZE_RELEVANCE_UNSHARED_H

#include "base/hash.h"
#include "trace/read/reader.h"

#define ALONE_GRANULES READER_PAGE	/* of a page */
#define ALONE_PAGES (1u << 18)	/* at most: 1 GiB of memory; what is not in them is not alone */
#define ALONE_MOST ((uint64_t)ALONE_PAGES * ALONE_GRANULES * 8)	/* bytes */
#define ALONE_NONE UINT32_MAX	/* no page */

/* Of a page, a bit for each granule. */
struct alone_bits {
	uint64_t granule[ALONE_GRANULES / 64];
};

struct alone {
	struct alone_slot {
		uint64_t key;	/* number of the page, plus 1; 0: free */
		uint32_t page;
	} *slots;		/* by hash */
	size_t slot_count;	/* a power of two */
	size_t page_count;
	struct alone_bits *shared;	/* by page: what is not alone */
	struct alone_bits *loose;	/* … and what is not settled; may be `shared` */
	unsigned fought;	/* of 64 accesses, so many are to what is not alone, about */
	bool lost;		/* nothing is alone, or it is not known: there are no pages */
	uint64_t events, accesses;	/* of the trace, if `loose` was looked for, else 0 */
	uint64_t last;		/* of these events, the last that is an atomic or an access to what is loose */
};

/* Leaves the reader at its first event. A damaged trace has nothing alone: reading it says why. */
struct alone *alone_new(struct reader *trace);
void alone_free(struct alone *a);

/* The page of that key, made if need be; ALONE_NONE: there are too many. */
uint32_t alone_page(struct alone *a, uint64_t key);

/* By address / 8. */
static inline uint64_t alone_key(uint64_t granule)
{
	return granule / ALONE_GRANULES + 1;
}

/* Where the slot of that key is to be found, or behind it. */
static inline size_t alone_start(const struct alone *a, uint64_t key)
{
	return hash_spread(key) >> 40 & (a->slot_count - 1);
}

static inline const struct alone_slot *alone_slot(const struct alone *a, uint64_t key)
{
	size_t i = alone_start(a, key);

	while (a->slots[i].key && a->slots[i].key != key)
		i = (i + 1) & (a->slot_count - 1);
	return &a->slots[i];
}

static inline bool alone_bit(const struct alone_bits *bits, uint64_t granule)
{
	return bits->granule[granule % ALONE_GRANULES / 64] >> granule % 64 & 1;
}

/* By address / 8: there is a page, and the bit is not set in it. */
static inline bool alone_granule(const struct alone *a, const struct alone_bits *bits,
				 uint64_t granule)
{
	const struct alone_slot *s = alone_slot(a, alone_key(granule));

	return s->key && !alone_bit(&bits[s->page], granule);
}

/* All that the access touches. */
static inline bool alone_all(const struct alone *a, const struct alone_bits *bits,
			     const struct event *ev)
{
	uint64_t first = ev->addr / 8, last = (ev->addr + ev->size - 1) / 8;

	if (__builtin_expect(!ev->size || last < first, 0))
		return false;
	while (alone_granule(a, bits, first))
		if (first++ == last)
			return true;
	return false;
}

static inline bool alone_has(const struct alone *a, const struct event *ev)
{
	return alone_all(a, a->shared, ev);
}

#endif

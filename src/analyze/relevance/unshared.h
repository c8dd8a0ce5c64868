/*
 * Which memory is unshared, known before the trace is read in order. The unit is a granule of 8
 * bytes; granules are kept in pages of UNSHARED_PAGE_GRANULES, found by hash.
 *
 * A granule is unshared if one thread accesses it, or if no thread writes it. No access to it
 * conflicts with another. One pass over all accesses, in any order, decides it. That costs a
 * fraction of what analyses save by skipping these accesses. The pass gives up if nearly all
 * accesses go to shared granules: then nothing counts as unshared.
 *
 * ordered.h extends the result: a granule is *ordered* if it is unshared, if its conflicting
 * accesses are all ordered by strong happens-before, or if no thread accesses it twice.
 *
 * A block that is freed and allocated again counts as the same memory here.
 */
#ifndef ANALYZE_RELEVANCE_UNSHARED_H
#define ANALYZE_RELEVANCE_UNSHARED_H

#include "base/hash.h"
#include "trace/read/reader.h"

#define UNSHARED_PAGE_GRANULES READER_PAGE	/* granules per page */
#define UNSHARED_MAX_PAGES (1u << 18)	/* 1 GiB of memory; granules beyond count as shared */
#define UNSHARED_MAX_BYTES ((uint64_t)UNSHARED_MAX_PAGES * UNSHARED_PAGE_GRANULES * 8)
#define UNSHARED_NO_PAGE UINT32_MAX

/* One bit for each granule of a page. */
struct granule_bits {
	uint64_t granule[UNSHARED_PAGE_GRANULES / 64];
};

struct unshared {
	struct unshared_slot {
		uint64_t key;	/* unshared_key() of the page; 0: free slot */
		uint32_t page;	/* index into `shared` and `unordered` */
	} *slots;		/* hash table */
	size_t slot_count;	/* a power of two */
	size_t page_count;
	struct granule_bits *shared;	/* by page: granules that are not unshared */
	struct granule_bits *unordered;	/* by page: granules not ordered; may be `shared` */
	unsigned shared_of_64;	/* estimate: of 64 accesses, those to shared granules */
	bool lost;		/* the pass gave up or the trace is damaged: there are no pages */
	/* Set by the pass of ordered.h, else 0. */
	uint64_t events, accesses;	/* in the whole trace */
	uint64_t last_relevant;	/* number of the last atomic or access to an unordered granule */
};

/*
 * Makes the pass and leaves the reader at its first event. Of a damaged trace nothing is
 * unshared; the analysis that reads it reports the damage.
 */
struct unshared *unshared_new(struct reader *trace);
void unshared_free(struct unshared *a);

/* The page with this key, added if need be; UNSHARED_NO_PAGE if UNSHARED_MAX_PAGES are in use. */
uint32_t unshared_page(struct unshared *a, uint64_t key);

/* Key of the page that holds a granule (address / 8); never 0. */
static inline uint64_t unshared_key(uint64_t granule)
{
	return granule / UNSHARED_PAGE_GRANULES + 1;
}

/* Index of the slot where the search for a key begins. */
static inline size_t unshared_start(const struct unshared *a, uint64_t key)
{
	return hash_spread(key) >> 40 & (a->slot_count - 1);
}

/* The slot of that key, or the free slot where it belongs. */
static inline const struct unshared_slot *unshared_slot(const struct unshared *a, uint64_t key)
{
	size_t i = unshared_start(a, key);

	while (a->slots[i].key && a->slots[i].key != key)
		i = (i + 1) & (a->slot_count - 1);
	return &a->slots[i];
}

static inline bool granule_bit(const struct granule_bits *bits, uint64_t granule)
{
	return bits->granule[granule % UNSHARED_PAGE_GRANULES / 64] >> granule % 64 & 1;
}

/* Whether the granule (address / 8) has a page in which its bit of `bits` is 0. */
static inline bool unshared_is_clear(const struct unshared *a, const struct granule_bits *bits,
				     uint64_t granule)
{
	const struct unshared_slot *s = unshared_slot(a, unshared_key(granule));

	return s->key && !granule_bit(&bits[s->page], granule);
}

/* Whether unshared_is_clear() holds for every granule that the access touches. */
static inline bool unshared_all_clear(const struct unshared *a, const struct granule_bits *bits,
				      const struct event *ev)
{
	uint64_t first = ev->addr / 8, last = (ev->addr + ev->size - 1) / 8;

	if (__builtin_expect(!ev->size || last < first, 0))
		return false;
	while (unshared_is_clear(a, bits, first))
		if (first++ == last)
			return true;
	return false;
}

/* Whether the access touches only unshared memory. */
static inline bool unshared_has(const struct unshared *a, const struct event *ev)
{
	return unshared_all_clear(a, a->shared, ev);
}

#endif

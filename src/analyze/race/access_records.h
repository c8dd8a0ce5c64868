/*
 * What is remembered of accesses, by location: for each 8-byte granule a few
 * records. A record covers those bytes of its granule that its mask says.
 *
 * Most granules have one or two records. These have a home, by page; more are kept in a
 * pool, those of a granule side by side: an access looks at all of them. Of four granules in
 * a row each is in another lane of homes: of a record's fields often few are followed, and
 * the same of all records, and what was never touched takes no memory. When there is no room all is
 * forgotten and begun anew: memory is bounded, and what was lost is counted.
 */
#ifndef ANALYZE_RACE_ACCESS_RECORDS_H
#define ANALYZE_RACE_ACCESS_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"
#include "base/hash.h"

#define SHADOW_PAGE_SHIFT 9	/* bytes of memory in a page */
#define SHADOW_CELLS (1u << (SHADOW_PAGE_SHIFT - 3))
#define SHADOW_HOMES 2u
#define SHADOW_RECENT 2048u	/* pages found without a search; a power of two */
#define SHADOW_PAGES (1u << 18)	/* at most: 1.3 GiB, 0.5 of hints */
#define SHADOW_LANES 4u
#define SHADOW_LANE (SHADOW_CELLS / SHADOW_LANES)	/* cells of a page in one */
#define SHADOW_MORE (1u << 24)	/* records in the pool, at most: 0.5 GiB */
#define SHADOW_ORDERS 22u	/* sizes of blocks in the pool, powers of two from 2 records on */

/* An access of a thread to bytes of one granule. */
struct record {
	uint64_t who;		/* thread and index of its event */
	uint64_t site;		/* pc, and in the upper 16 bits mask and enum access; 0: free */
	uint32_t epoch;		/* of `full` */
	uint32_t order_epoch;
	uint32_t stack;
	uint32_t lockset;
};

struct cell {
	struct record home[SHADOW_HOMES];
};

/* Records in the pool, oldest first. */
struct more {
	uint32_t at;		/* the first */
	uint32_t count : 25;
	uint32_t hinted : 2;	/* for race_predict.c, which sets it; 0 again when some of them go */
	uint32_t order : 5;	/* there is room for 1 << order; 0: none */
};

/* For race_predict.c, of a granule that has them; else untouched. */
struct hints {
	uint64_t guard;		/* the outer lock of all records, taken to write */
	uint8_t at[24];		/* where one was the last time; 0: none */
};

struct shadow {
	struct cell *cells;	/* by shadow_index() */
	struct more *more;
	uint64_t *written;	/* for race_predict.c: who wrote last, as `who` of a record */
	struct hints *hints;
	uint64_t *numbers;	/* by page: address >> SHADOW_PAGE_SHIFT */
	uint32_t *pages;	/* by hash of the number, 0: free */
	size_t page_count, page_room, page_limit, table_size;	/* page 0 is not used */
	struct record *pool;	/* 0 and 1 are not used */
	size_t pool_count, pool_capacity;
	uint32_t free[SHADOW_ORDERS];	/* first of the free blocks, linked by `who`; 0: none */
	struct recent {
		uint64_t number;
		uint32_t page;	/* 0: none */
	} recent[SHADOW_RECENT];
	uint64_t dropped;	/* records lost for lack of room */
};

/* Where a granule's records are. */
struct place {
	struct record *home;
	struct more *more;
	uint64_t *written;
	struct hints *hints;
};

void shadow_init(struct shadow *s);
void shadow_free(struct shadow *s);

/* The page is made if there is none; others may go for it. */
uint32_t shadow_page(struct shadow *s, uint64_t number);

/* By hash: stacks and heaps of threads lie at like addresses. */
static inline struct recent *shadow_recent(struct shadow *s, uint64_t number)
{
	return &s->recent[hash_spread(number) >> 40 & (SHADOW_RECENT - 1)];
}

/* Of a granule in the page. */
static inline size_t shadow_index(uint32_t page, uint64_t granule)
{
	size_t lane = granule % SHADOW_LANES, cell = granule / SHADOW_LANES % SHADOW_LANE;

	return (lane * SHADOW_PAGES + page) * SHADOW_LANE + cell;
}

static inline struct place shadow_place(struct shadow *s, uint64_t addr)
{
	uint64_t number = addr >> SHADOW_PAGE_SHIFT;
	const struct recent *recent = shadow_recent(s, number);
	uint32_t page = recent->page;
	size_t i;

	if (__builtin_expect(!page || recent->number != number, 0))
		page = shadow_page(s, number);
	i = shadow_index(page, addr >> 3);
	return (struct place){ s->cells[i].home, &s->more[i], &s->written[i], &s->hints[i] };
}

/* A record for the granule; all fields are the caller's. */
struct record *shadow_add(struct shadow *s, const struct place *p);

/* Takes the i-th of the granule out of the pool. One at home is free when its site is 0. */
void shadow_drop(struct shadow *s, struct more *more, uint32_t i);

/* The memory's history ends. */
void shadow_forget(struct shadow *s, uint64_t addr, uint64_t size);

/* Threads are below 2^20, events of one below 2^44. */
static inline uint64_t record_who(uint32_t thread, uint64_t index)
{
	return (uint64_t)thread << 44 | index;
}

static inline uint32_t who_thread(uint64_t who)
{
	return (uint32_t)(who >> 44);
}

static inline uint64_t who_index(uint64_t who)
{
	return who & ((1ull << 44) - 1);
}

static inline void record_set(struct record *r, uint64_t site, const struct view *view)
{
	r->who = record_who(view->thread, view->index);
	r->site = site;
	r->epoch = (uint32_t)view->epoch;
	r->order_epoch = (uint32_t)view->order_epoch;
	r->stack = view->stack;
	r->lockset = view->lockset;
}

static inline uint64_t record_site(uint64_t pc, unsigned mask, unsigned access)
{
	return (pc & TRACE_ADDR_MASK) | (uint64_t)mask << 48 | (uint64_t)access << 56;
}

static inline unsigned record_mask(const struct record *r)
{
	return r->site >> 48 & 0xff;
}

static inline unsigned record_access(const struct record *r)
{
	return (unsigned)(r->site >> 56);
}

/* Bytes [addr, end) of the granule at `base`. */
static inline unsigned shadow_mask(uint64_t base, uint64_t addr, uint64_t end)
{
	unsigned from = addr > base ? (unsigned)(addr - base) : 0;
	unsigned to = end < base + 8 ? (unsigned)(end - base) : 8;

	return ((1u << to) - 1) & ~((1u << from) - 1) & 0xff;
}

/* One of them writes, and not both are atomic. */
static inline bool shadow_conflict(unsigned a, unsigned b)
{
	return ((a | b) & ACCESS_WRITE) && !(a & b & ACCESS_ATOMIC);
}

/* Whatever conflicts with `b` conflicts with `a`. */
static inline bool shadow_dominates(unsigned a, unsigned b)
{
	if ((a & ACCESS_WRITE) == 0 && (b & ACCESS_WRITE))
		return false;
	return !(a & ACCESS_ATOMIC) || (b & ACCESS_ATOMIC);
}

/* As candidates name it; time and nth are filled in by the driver. */
struct candidate_event record_event(const struct record *r, uint64_t granule);

/* Two accesses, the one in the record first, wanted the other way round. */
void record_candidate(struct candidate *c, const struct record *r, uint64_t granule,
		      const struct event *ev, const struct view *view);

#endif

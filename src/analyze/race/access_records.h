/*
 * Shadow memory of the race analyses: the earlier accesses to each granule (8 aligned bytes) that
 * a later access may race with. A record covers the bytes of the granule that its mask names.
 *
 * Most granules have one or two records. These are direct records, in arrays indexed by page and
 * granule. Further records of a granule overflow into a block of a pool, where they are adjacent,
 * because an access compares itself with all of them.
 *
 * The arrays are split into lanes: lane i has the granules whose number is i modulo RECORDS_LANES.
 * A program often accesses one field of all elements of its array; their granules then share cache
 * lines here. Memory is reserved for whole arrays; pages that are never touched take none.
 *
 * Memory is bounded: when there is no room for a page or a block, all pages or all blocks are
 * forgotten, and the lost records are counted in `dropped`.
 */
#ifndef ANALYZE_RACE_ACCESS_RECORDS_H
#define ANALYZE_RACE_ACCESS_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"
#include "base/hash.h"

#define RECORDS_PAGE_SHIFT 9	/* log2 of the bytes of program memory in a page */
#define RECORDS_PAGE_GRANULES (1u << (RECORDS_PAGE_SHIFT - 3))
#define RECORDS_DIRECT 2u	/* direct records of a granule: most have no more */
#define RECORDS_CACHED_PAGES 2048u	/* slots of the page cache; a power of two */
#define RECORDS_MAX_PAGES (1u << 18)	/* bounds memory: 1.3 GiB, and 0.5 GiB of hints */
#define RECORDS_LANES 4u
#define RECORDS_LANE_GRANULES (RECORDS_PAGE_GRANULES / RECORDS_LANES)	/* of one page */
#define RECORDS_MAX_POOL (1u << 24)	/* records in the pool; bounds memory: 0.5 GiB */
#define RECORDS_BLOCK_ORDERS 22u	/* a block has room for 1 << order records, order > 0 */

/* An access of a thread to bytes of one granule. */
struct access_record {
	uint64_t event_id;	/* event_id(): the event's thread and index */
	uint64_t site;		/* record_site(): pc, byte mask, access bits; 0: no record */
	uint32_t epoch;		/* the thread's component of view.full at the access */
	uint32_t order_epoch;	/* the thread's component of view.order at the access */
	uint32_t stack;
	uint32_t lockset;
};

struct direct_records {
	struct access_record at[RECORDS_DIRECT];
};

/* A granule's records in the pool, oldest first. */
struct overflow {
	uint32_t first;		/* index in the pool */
	uint32_t count : 25;
	uint32_t hint_state : 2;	/* enum hint_state of predict_race.c */
	uint32_t room_order : 5;	/* the block has room for 1 << room_order; 0: no block */
};

/* predict_race.c: where to find records; valid only with HINTS_GUARDED. */
struct hints {
	uint64_t common_lock;	/* the outermost lock of all records of the granule, write-held */
	uint8_t position[24];	/* by hint_number(): 1 + position of the last record; 0: none */
};

struct access_records {
	struct direct_records *direct;	/* this and the next three by records_granule_index() */
	struct overflow *overflow;
	uint64_t *last_writer;	/* predict_race.c: event_id() of the last write; 0: none */
	struct hints *hints;
	uint64_t *page_number;	/* by page: address >> RECORDS_PAGE_SHIFT */
	uint32_t *page_table;	/* by hash of the page number: the page, 0 if free */
	size_t page_count, page_capacity, page_limit, table_size;	/* page 0 is unused */
	struct access_record *pool;	/* 0 and 1 are not used */
	size_t pool_count, pool_capacity;
	uint32_t free_block[RECORDS_BLOCK_ORDERS];	/* lists, linked by `event_id`; 0: empty */
	struct cached_page {
		uint64_t number;
		uint32_t page;	/* 0: empty slot */
	} page_cache[RECORDS_CACHED_PAGES];	/* direct-mapped */
	uint64_t dropped;	/* records lost because memory is bounded */
};

/* The parts of struct access_records that belong to one granule. */
struct granule_records {
	struct access_record *direct;
	struct overflow *overflow;
	uint64_t *last_writer;
	struct hints *hints;
};

void records_init(struct access_records *s);
void records_free(struct access_records *s);

/* The page of this number. Makes it if needed, which may forget all others. */
uint32_t records_page(struct access_records *s, uint64_t number);

/* The page's slot of the cache. Hashed, because threads' stacks and heaps are aligned alike. */
static inline struct cached_page *records_cached_page(struct access_records *s, uint64_t number)
{
	return &s->page_cache[hash_spread(number) >> 40 & (RECORDS_CACHED_PAGES - 1)];
}

/* Index of granule number `granule` (address >> 3), which lies in `page`, in the arrays. */
static inline size_t records_granule_index(uint32_t page, uint64_t granule)
{
	size_t lane = granule % RECORDS_LANES;
	size_t in_lane = granule / RECORDS_LANES % RECORDS_LANE_GRANULES;

	return (lane * RECORDS_MAX_PAGES + page) * RECORDS_LANE_GRANULES + in_lane;
}

/* Makes the page of `addr` if needed. The result is valid until the next call. */
static inline struct granule_records records_of_granule(struct access_records *s, uint64_t addr)
{
	uint64_t number = addr >> RECORDS_PAGE_SHIFT;
	const struct cached_page *cached = records_cached_page(s, number);
	uint32_t page = cached->page;
	size_t i;

	if (__builtin_expect(!page || cached->number != number, 0))
		page = records_page(s, number);
	i = records_granule_index(page, addr >> 3);
	return (struct granule_records){ s->direct[i].at, &s->overflow[i], &s->last_writer[i],
					 &s->hints[i] };
}

/* A new record of the granule; the caller sets all fields. May forget all records in the pool. */
struct access_record *records_add(struct access_records *s, const struct granule_records *p);

/* Removes the i-th record from the granule's block. A direct record is removed by site = 0. */
void records_drop(struct access_records *s, struct overflow *overflow, uint32_t i);

/* Removes [addr, addr + size) from all records: it was freed or allocated again. */
void records_forget(struct access_records *s, uint64_t addr, uint64_t size);

/* Names an event in 64 bits. Thread ids are below 2^20, a thread's event indices below 2^44. */
static inline uint64_t event_id(uint32_t thread, uint64_t index)
{
	return (uint64_t)thread << 44 | index;
}

static inline uint32_t event_id_thread(uint64_t id)
{
	return (uint32_t)(id >> 44);
}

static inline uint64_t event_id_index(uint64_t id)
{
	return id & ((1ull << 44) - 1);
}

static inline void record_set(struct access_record *r, uint64_t site, const struct view *view)
{
	r->event_id = event_id(view->thread, view->index);
	r->site = site;
	r->epoch = (uint32_t)view->epoch;
	r->order_epoch = (uint32_t)view->order_epoch;
	r->stack = view->stack;
	r->lockset = view->lockset;
}

/* Bits 0 to 47: pc; 48 to 55: the bytes of the granule; 56 and up: enum access. */
static inline uint64_t record_site(uint64_t pc, unsigned mask, unsigned access)
{
	return (pc & TRACE_ADDR_MASK) | (uint64_t)mask << 48 | (uint64_t)access << 56;
}

static inline unsigned record_mask(const struct access_record *r)
{
	return r->site >> 48 & 0xff;
}

static inline unsigned record_access_bits(const struct access_record *r)
{
	return (unsigned)(r->site >> 56);
}

/* The bytes of [addr, end) that lie in the granule at `base`, a bit for each. */
static inline unsigned records_byte_mask(uint64_t base, uint64_t addr, uint64_t end)
{
	unsigned from = addr > base ? (unsigned)(addr - base) : 0;
	unsigned to = end < base + 8 ? (unsigned)(end - base) : 8;

	return ((1u << to) - 1) & ~((1u << from) - 1) & 0xff;
}

/* At least one access writes, and not both are atomic. */
static inline bool accesses_conflict(unsigned a, unsigned b)
{
	return ((a | b) & ACCESS_WRITE) && !(a & b & ACCESS_ATOMIC);
}

/* Every access that conflicts with `b` conflicts with `a`. */
static inline bool access_dominates(unsigned a, unsigned b)
{
	if ((a & ACCESS_WRITE) == 0 && (b & ACCESS_WRITE))
		return false;
	return !(a & ACCESS_ATOMIC) || (b & ACCESS_ATOMIC);
}

/* The record as candidates name events; the driver fills in `time` and `nth`. */
struct candidate_event record_event(const struct access_record *r, uint64_t granule);

/* Candidate: `ev` is to happen before the recorded access, which came first in this trace. */
void record_candidate(struct candidate *c, const struct access_record *r, uint64_t granule,
		      const struct event *ev, const struct view *view);

#endif

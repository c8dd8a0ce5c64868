#include "analyze/race/access_records.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/page_array.h"

#define FIRST_POOL 1024u	/* records; fill whole pages of the machine */
#define FIRST_PAGES 128u	/* their entries in each lane fill whole pages of the machine */
#define ALL_GRANULES ((size_t)RECORDS_MAX_PAGES * RECORDS_PAGE_GRANULES)

/* Makes the arrays usable for `room` pages; only their addresses were reserved before. */
static void open_pages(struct access_records *s, size_t room)
{
	for (uint64_t lane = 0; lane < RECORDS_LANES; lane++) {
		size_t at = records_granule_index(0, lane), to = room * RECORDS_LANE_GRANULES;
		size_t from = s->page_capacity * RECORDS_LANE_GRANULES;

		pages_open(s->direct + at, from * sizeof(*s->direct), to * sizeof(*s->direct));
		pages_open(s->overflow + at, from * sizeof(*s->overflow),
			   to * sizeof(*s->overflow));
		pages_open(s->last_writer + at, from * sizeof(*s->last_writer),
			   to * sizeof(*s->last_writer));
		pages_open(s->hints + at, from * sizeof(*s->hints), to * sizeof(*s->hints));
	}
	s->page_number = xrealloc(s->page_number, room * sizeof(*s->page_number));
	s->page_capacity = room;
}

static void reserve_arrays(struct access_records *s)
{
	s->direct = pages_reserve(ALL_GRANULES * sizeof(*s->direct));
	s->overflow = pages_reserve(ALL_GRANULES * sizeof(*s->overflow));
	s->last_writer = pages_reserve(ALL_GRANULES * sizeof(*s->last_writer));
	s->hints = pages_reserve(ALL_GRANULES * sizeof(*s->hints));
	s->page_count = 1;
	s->page_capacity = 0;
	open_pages(s, FIRST_PAGES);
}

static void release_arrays(struct access_records *s)
{
	pages_free(s->direct, ALL_GRANULES * sizeof(*s->direct));
	pages_free(s->overflow, ALL_GRANULES * sizeof(*s->overflow));
	pages_free(s->last_writer, ALL_GRANULES * sizeof(*s->last_writer));
	pages_free(s->hints, ALL_GRANULES * sizeof(*s->hints));
}

void records_init(struct access_records *s)
{
	*s = (struct access_records){ .pool_count = 2, .table_size = 1024,
				      .page_limit = RECORDS_MAX_PAGES };
	s->page_table = xcalloc(s->table_size, sizeof(*s->page_table));
	reserve_arrays(s);
}

void records_free(struct access_records *s)
{
	release_arrays(s);
	free(s->page_table);
	free(s->page_number);
	pages_free(s->pool, s->pool_capacity * sizeof(*s->pool));
}

static uint32_t *page_slot(const struct access_records *s, uint64_t number)
{
	size_t i = hash_spread(number) >> 24 & (s->table_size - 1);

	while (s->page_table[i] && s->page_number[s->page_table[i]] != number)
		i = (i + 1) & (s->table_size - 1);
	return &s->page_table[i];
}

static void grow_page_table(struct access_records *s)
{
	free(s->page_table);
	s->table_size *= 2;
	s->page_table = xcalloc(s->table_size, sizeof(*s->page_table));
	for (uint32_t page = 1; page < s->page_count; page++)
		*page_slot(s, s->page_number[page]) = page;
}

static void forget_pool(struct access_records *s)
{
	for (uint32_t page = 1; page < s->page_count; page++)
		for (uint64_t g = 0; g < RECORDS_PAGE_GRANULES; g++) {
			struct overflow *overflow = &s->overflow[records_granule_index(page, g)];

			s->dropped += overflow->count;
			*overflow = (struct overflow){ 0 };
		}
	s->pool_count = 2;
	memset(s->free_block, 0, sizeof(s->free_block));
}

static void forget_all(struct access_records *s)
{
	for (uint32_t page = 1; page < s->page_count; page++)
		for (uint64_t g = 0; g < RECORDS_PAGE_GRANULES; g++)
			for (unsigned h = 0; h < RECORDS_DIRECT; h++)
				s->dropped += s->direct[records_granule_index(page,
									      g)].at[h].site != 0;
	forget_pool(s);
	release_arrays(s);
	reserve_arrays(s);
	memset(s->page_table, 0, s->table_size * sizeof(*s->page_table));
	memset(s->page_cache, 0, sizeof(s->page_cache));
}

uint32_t records_page(struct access_records *s, uint64_t number)
{
	uint32_t *at = page_slot(s, number);

	if (!*at) {
		if (s->page_count == s->page_limit)
			forget_all(s);
		if (s->page_count == s->page_capacity)
			open_pages(s, 2 * s->page_capacity);
		if (s->page_count * 2 >= s->table_size)
			grow_page_table(s);
		s->page_number[s->page_count] = number;
		at = page_slot(s, number);
		*at = (uint32_t)s->page_count++;
	}
	*records_cached_page(s, number) = (struct cached_page){ number, *at };
	return *at;
}

/* A block of 1 << order records, each 32 bytes, begins at a cache line. */
static void grow_pool(struct access_records *s)
{
	size_t old = s->pool_capacity * sizeof(*s->pool);

	s->pool_capacity = s->pool_capacity ? s->pool_capacity * 2 : FIRST_POOL;
	s->pool = pages_grow(s->pool, old, s->pool_capacity * sizeof(*s->pool));
}

/* Returns the index of a block in the pool; 0: RECORDS_MAX_POOL is reached. */
static uint32_t block_new(struct access_records *s, unsigned order)
{
	uint32_t at = s->free_block[order];

	if (at) {
		s->free_block[order] = (uint32_t)s->pool[at].event_id;
		return at;
	}
	if (s->pool_count + (1u << order) > RECORDS_MAX_POOL)
		return 0;
	while (s->pool_count + (1u << order) > s->pool_capacity)
		grow_pool(s);
	at = (uint32_t)s->pool_count;
	s->pool_count += 1u << order;
	return at;
}

static void block_free(struct access_records *s, struct overflow *overflow)
{
	s->pool[overflow->first].event_id = s->free_block[overflow->room_order];
	s->free_block[overflow->room_order] = overflow->first;
	*overflow = (struct overflow){ 0 };
}

/* Moves the granule's records to a block of twice the size, or makes the first block. */
static void grow_block(struct access_records *s, struct overflow *overflow)
{
	unsigned order = overflow->room_order + 1u;
	uint32_t at = order < RECORDS_BLOCK_ORDERS ? block_new(s, order) : 0,
		      count = overflow->count;
	unsigned hint_state = overflow->hint_state;

	if (!at) {
		forget_pool(s);
		order = 1;
		count = hint_state = 0;
		at = block_new(s, order);
	}
	if (count > 0) {
		memcpy(&s->pool[at], &s->pool[overflow->first], count * sizeof(*s->pool));
		block_free(s, overflow);
	}
	*overflow = (struct overflow){ .first = at, .count = count, .room_order = order,
				       .hint_state = hint_state };
}

struct access_record *records_add(struct access_records *s, const struct granule_records *p)
{
	struct overflow *overflow = p->overflow;

	for (unsigned i = 0; i < RECORDS_DIRECT; i++)
		if (p->direct[i].site == 0)
			return &p->direct[i];
	if (!overflow->room_order || overflow->count == 1u << overflow->room_order)
		grow_block(s, overflow);
	return &s->pool[overflow->first + overflow->count++];
}

void records_drop(struct access_records *s, struct overflow *overflow, uint32_t i)
{
	struct access_record *r = &s->pool[overflow->first];

	overflow->count--;
	memmove(r + i, r + i + 1, (overflow->count - i) * sizeof(*r));
	if (overflow->count == 0)
		block_free(s, overflow);
}

/* The site of a record without the bytes in `mask`; 0 if no byte is left. */
static uint64_t without_bytes(uint64_t site, unsigned mask)
{
	site &= ~((uint64_t)mask << 48);
	return site >> 48 & 0xff ? site : 0;
}

/* Does not write zero over zero: pages that were never written take no memory. */
static void forget_granule(struct access_records *s, size_t at, unsigned mask)
{
	struct overflow *overflow = &s->overflow[at];
	struct access_record *direct = s->direct[at].at;

	if (s->last_writer[at])
		s->last_writer[at] = 0;
	if (overflow->count)
		overflow->hint_state = 0;
	for (unsigned i = 0; i < RECORDS_DIRECT; i++)
		if (direct[i].site)
			direct[i].site = without_bytes(direct[i].site, mask);
	for (uint32_t i = overflow->count; i-- > 0; ) {
		struct access_record *r = &s->pool[overflow->first + i];

		r->site = without_bytes(r->site, mask);
		if (r->site == 0)
			records_drop(s, overflow, i);
	}
}

/* Forgets the part of [addr, end) that lies in the page. */
static void forget_page(struct access_records *s, uint32_t page, uint64_t addr, uint64_t end)
{
	uint64_t base = s->page_number[page] << RECORDS_PAGE_SHIFT;
	uint64_t last = base + (1u << RECORDS_PAGE_SHIFT);
	uint64_t at = addr > base ? addr & ~7ull : base;

	for (; at < end && at < last; at += 8)
		forget_granule(s, records_granule_index(page, at >> 3),
			       records_byte_mask(at, addr, end));
}

void records_forget(struct access_records *s, uint64_t addr, uint64_t size)
{
	uint64_t first = addr >> RECORDS_PAGE_SHIFT, last = (addr + size - 1) >> RECORDS_PAGE_SHIFT;

	if (size == 0)
		return;
	if (last - first < s->page_count) {
		for (uint64_t number = first; number <= last; number++) {
			uint32_t page = *page_slot(s, number);

			if (page)
				forget_page(s, page, addr, addr + size);
		}
		return;
	}
	for (uint32_t page = 1; page < s->page_count; page++)
		if (s->page_number[page] >= first && s->page_number[page] <= last)
			forget_page(s, page, addr, addr + size);
}

static uint16_t kind_of(unsigned access)
{
	if (!(access & ACCESS_ATOMIC))
		return access & ACCESS_WRITE ? TRACE_WRITE : TRACE_READ;
	if (access & ACCESS_READ)
		return access & ACCESS_WRITE ? TRACE_ATOMIC_XCHG : TRACE_ATOMIC_LOAD;
	return TRACE_ATOMIC_STORE;
}

struct candidate_event record_event(const struct access_record *r, uint64_t granule)
{
	unsigned mask = record_mask(r), from = (unsigned)__builtin_ctz(mask);

	return (struct candidate_event){
		.thread = event_id_thread(r->event_id), .kind = kind_of(record_access_bits(r)),
		.index = event_id_index(r->event_id),
		.addr = granule + from, .size = (uint64_t)(32 - __builtin_clz(mask)) - from,
		.pc = r->site & TRACE_ADDR_MASK, .lockset = r->lockset, .stack = r->stack,
	};
}

void record_candidate(struct candidate *c, const struct access_record *r, uint64_t granule,
		      const struct event *ev, const struct view *view)
{
	unsigned mask = record_mask(r) & records_byte_mask(granule, ev->addr, ev->addr + ev->size);

	*c = (struct candidate){
		.pattern = !(record_access_bits(r) & ACCESS_WRITE) ? PATTERN_RW :
			   access_of(ev->kind) & ACCESS_WRITE ? PATTERN_WW : PATTERN_WR,
		.events = 2, .orders = 1,
		.event = { record_event(r, granule), view_event(view, ev) },
		.order = { { .first = 1, .second = 0 } },
		.addr = granule + (unsigned)__builtin_ctz(mask),
		.size = (unsigned)__builtin_popcount(mask),
	};
	memset(c->hold, -1, sizeof(c->hold));
}

#include "analyze/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/pages.h"
#include "base/mem.h"

#define FIRST_POOL 1024u	/* records; whole pages */

void shadow_init(struct shadow *s)
{
	*s = (struct shadow){ .pool_count = 2, .table_size = 1024 };
	s->pages = xcalloc(s->table_size, sizeof(struct page *));
}

static size_t slab_size(size_t number)
{
	return number == 0 ? SHADOW_FIRST_SLAB : SHADOW_SLAB;
}

static void free_pages(struct shadow *s)
{
	for (size_t i = 0; i < s->slab_count; i++)
		pages_free(s->slabs[i], slab_size(i) * sizeof(struct page));
	s->slab_count = s->slab_left = 0;
}

void shadow_free(struct shadow *s)
{
	free_pages(s);
	free(s->pages);
	free(s->slabs);
	pages_free(s->pool, s->pool_capacity * sizeof(*s->pool));
}

static struct page **page_place(const struct shadow *s, uint64_t number)
{
	size_t i = number * 0x9e3779b97f4a7c15ull >> 24 & (s->table_size - 1);

	while (s->pages[i] && s->pages[i]->number != number)
		i = (i + 1) & (s->table_size - 1);
	return &s->pages[i];
}

static void grow_table(struct shadow *s)
{
	struct page **old = s->pages;
	size_t size = s->table_size;

	s->table_size *= 2;
	s->pages = xcalloc(s->table_size, sizeof(struct page *));
	for (size_t i = 0; i < size; i++)
		if (old[i])
			*page_place(s, old[i]->number) = old[i];
	free(old);
}

static void empty_pool(struct shadow *s)
{
	for (size_t i = 0; i < s->table_size; i++)
		for (unsigned c = 0; s->pages[i] && c < SHADOW_CELLS; c++) {
			s->dropped += s->pages[i]->more[c].count;
			s->pages[i]->more[c] = (struct more){ 0 };
		}
	s->pool_count = 2;
	memset(s->free, 0, sizeof(s->free));
}

static void empty(struct shadow *s)
{
	for (size_t i = 0; i < s->table_size; i++)
		for (unsigned c = 0; s->pages[i] && c < SHADOW_CELLS; c++)
			for (unsigned h = 0; h < SHADOW_HOMES; h++)
				s->dropped += s->pages[i]->cells[c].home[h].site != 0;
	empty_pool(s);
	free_pages(s);
	memset(s->pages, 0, s->table_size * sizeof(struct page *));
	memset(s->recent, 0, sizeof(s->recent));
	s->page_count = 0;
}

static struct page *page_new(struct shadow *s)
{
	size_t size = slab_size(s->slab_count);

	if (s->slab_left == 0) {
		s->slabs = xgrow(s->slabs, s->slab_count, &s->slab_capacity, sizeof(*s->slabs));
		s->slabs[s->slab_count++] = pages_grow(NULL, 0, size * sizeof(struct page));
		s->slab_left = size;
	}
	s->page_count++;
	return &s->slabs[s->slab_count - 1][slab_size(s->slab_count - 1) - s->slab_left--];
}

struct page *shadow_page(struct shadow *s, uint64_t number)
{
	struct page **at = page_place(s, number);

	if (!*at) {
		if (s->page_count == SHADOW_PAGES)
			empty(s);
		if (s->page_count * 2 >= s->table_size)
			grow_table(s);
		at = page_place(s, number);
		*at = page_new(s);
		(*at)->number = number;
	}
	*shadow_recent(s, number) = (struct recent){ number, *at };
	return *at;
}

/* Blocks of two records and more are cache lines. */
static void grow_pool(struct shadow *s)
{
	size_t old = s->pool_capacity * sizeof(*s->pool);

	s->pool_capacity = s->pool_capacity ? s->pool_capacity * 2 : FIRST_POOL;
	s->pool = pages_grow(s->pool, old, s->pool_capacity * sizeof(*s->pool));
}

static uint32_t block_new(struct shadow *s, unsigned order)
{
	uint32_t at = s->free[order];

	if (at) {
		s->free[order] = (uint32_t)s->pool[at].who;
		return at;
	}
	if (s->pool_count + (1u << order) > SHADOW_MORE)
		return 0;
	while (s->pool_count + (1u << order) > s->pool_capacity)
		grow_pool(s);
	at = (uint32_t)s->pool_count;
	s->pool_count += 1u << order;
	return at;
}

static void block_free(struct shadow *s, struct more *more)
{
	s->pool[more->at].who = s->free[more->order];
	s->free[more->order] = more->at;
	*more = (struct more){ 0 };
}

/* A block of twice the size, or the first one. */
static void more_room(struct shadow *s, struct more *more)
{
	unsigned order = more->order + 1u;
	uint32_t at = order < SHADOW_ORDERS ? block_new(s, order) : 0, count = more->count;

	if (!at) {
		empty_pool(s);
		order = 1;
		count = 0;
		at = block_new(s, order);
	}
	if (count > 0) {
		memcpy(&s->pool[at], &s->pool[more->at], count * sizeof(*s->pool));
		block_free(s, more);
	}
	*more = (struct more){ .at = at, .count = count, .order = order };
}

struct record *shadow_add(struct shadow *s, const struct place *p)
{
	struct more *more = p->more;

	for (unsigned i = 0; i < SHADOW_HOMES; i++)
		if (p->home[i].site == 0)
			return &p->home[i];
	if (!more->order || more->count == 1u << more->order)
		more_room(s, more);
	return &s->pool[more->at + more->count++];
}

void shadow_drop(struct shadow *s, struct more *more, uint32_t i)
{
	struct record *r = &s->pool[more->at];

	more->count--;
	memmove(r + i, r + i + 1, (more->count - i) * sizeof(*r));
	if (more->count == 0)
		block_free(s, more);
}

/* What is left of the record; 0: nothing. */
static uint64_t cut(uint64_t site, unsigned mask)
{
	site &= ~((uint64_t)mask << 48);
	return site >> 48 & 0xff ? site : 0;
}

static void forget_cell(struct shadow *s, struct page *page, unsigned cell, unsigned mask)
{
	struct more *more = &page->more[cell];

	page->written[cell] = 0;
	for (unsigned i = 0; i < SHADOW_HOMES; i++)
		page->cells[cell].home[i].site = cut(page->cells[cell].home[i].site, mask);
	for (uint32_t i = more->count; i-- > 0; ) {
		struct record *r = &s->pool[more->at + i];

		r->site = cut(r->site, mask);
		if (r->site == 0)
			shadow_drop(s, more, i);
	}
}

/* The part of [addr, end) that is in the page. */
static void forget_page(struct shadow *s, struct page *page, uint64_t addr, uint64_t end)
{
	uint64_t base = page->number << SHADOW_PAGE_SHIFT;
	uint64_t last = base + (1u << SHADOW_PAGE_SHIFT);
	uint64_t at = addr > base ? addr & ~7ull : base;

	for (; at < end && at < last; at += 8)
		forget_cell(s, page, at >> 3 & (SHADOW_CELLS - 1), shadow_mask(at, addr, end));
}

void shadow_forget(struct shadow *s, uint64_t addr, uint64_t size)
{
	uint64_t first = addr >> SHADOW_PAGE_SHIFT, last = (addr + size - 1) >> SHADOW_PAGE_SHIFT;

	if (size == 0)
		return;
	if (last - first < s->page_count) {
		for (uint64_t number = first; number <= last; number++) {
			struct page *page = *page_place(s, number);

			if (page)
				forget_page(s, page, addr, addr + size);
		}
		return;
	}
	for (size_t i = 0; i < s->table_size; i++)
		if (s->pages[i] && s->pages[i]->number >= first && s->pages[i]->number <= last)
			forget_page(s, s->pages[i], addr, addr + size);
}

static uint16_t kind_of(unsigned access)
{
	if (!(access & ACCESS_ATOMIC))
		return access & ACCESS_WRITE ? TRACE_WRITE : TRACE_READ;
	if (access & ACCESS_READ)
		return access & ACCESS_WRITE ? TRACE_ATOMIC_XCHG : TRACE_ATOMIC_LOAD;
	return TRACE_ATOMIC_STORE;
}

struct candidate_event record_event(const struct record *r, uint64_t granule)
{
	unsigned mask = record_mask(r), from = (unsigned)__builtin_ctz(mask);

	return (struct candidate_event){
		.thread = who_thread(r->who), .kind = kind_of(record_access(r)),
		.index = who_index(r->who),
		.addr = granule + from, .size = (uint64_t)(32 - __builtin_clz(mask)) - from,
		.pc = r->site & TRACE_ADDR_MASK, .lockset = r->lockset, .stack = r->stack,
	};
}

static char letter(unsigned access)
{
	return access & ACCESS_WRITE ? 'W' : 'R';
}

void record_candidate(struct candidate *c, const struct record *r, uint64_t granule,
		      const struct event *ev, const struct view *view)
{
	unsigned mask = record_mask(r) & shadow_mask(granule, ev->addr, ev->addr + ev->size);

	*c = (struct candidate){
		.class = CANDIDATE_RACE, .events = 2, .orders = 1,
		.pattern = { letter(record_access(r)), letter(access_of(ev->kind)) },
		.event = { record_event(r, granule), view_event(view, ev) },
		.order = { { .first = 1, .second = 0 } },
		.addr = granule + (unsigned)__builtin_ctz(mask),
		.size = (unsigned)__builtin_popcount(mask),
	};
	memset(c->hold, -1, sizeof(c->hold));
}

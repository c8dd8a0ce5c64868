#include "analyze/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void shadow_init(struct shadow *s)
{
	*s = (struct shadow){ .pool_count = 1, .table_size = 1024 };
	s->pages = xcalloc(s->table_size, sizeof(struct page *));
}

static void free_pages(struct shadow *s)
{
	for (size_t i = 0; i < s->table_size; i++)
		free(s->pages[i]);
}

void shadow_free(struct shadow *s)
{
	free_pages(s);
	free(s->pages);
	free(s->pool);
	free(s->next);
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
		if (s->pages[i])
			memset(s->pages[i]->more, 0, sizeof(s->pages[i]->more));
	s->dropped += s->pool_count - 1;
	s->pool_count = 1;
	s->free = 0;
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

struct page *shadow_page(struct shadow *s, uint64_t number)
{
	struct page **at = page_place(s, number);

	if (!*at) {
		if (s->page_count == SHADOW_PAGES)
			empty(s);
		if (s->page_count * 2 >= s->table_size)
			grow_table(s);
		at = page_place(s, number);
		*at = aligned_alloc(64, (sizeof(**at) + 63) & ~(size_t)63);
		if (!*at)
			xmalloc(SIZE_MAX);	/* says so and ends */
		memset(*at, 0, sizeof(**at));
		(*at)->number = number;
		s->page_count++;
	}
	return s->recent[number & (SHADOW_RECENT - 1)] = *at;
}

struct record *shadow_add(struct shadow *s, const struct place *p)
{
	uint32_t number = s->free;

	for (unsigned i = 0; i < SHADOW_HOMES; i++)
		if (p->home[i].site == 0)
			return &p->home[i];
	if (number) {
		s->free = s->next[number];
	} else {
		if (s->pool_count == SHADOW_MORE)
			empty_pool(s);
		s->pool = xgrow(s->pool, s->pool_count, &s->pool_capacity, sizeof(*s->pool));
		s->next = xgrow(s->next, s->pool_count, &s->next_capacity, sizeof(*s->next));
		number = (uint32_t)s->pool_count++;
	}
	s->next[number] = *p->more;
	*p->more = number;
	return &s->pool[number];
}

void shadow_drop(struct shadow *s, uint32_t *link)
{
	uint32_t number = *link;

	*link = s->next[number];
	s->next[number] = s->free;
	s->free = number;
}

/* What is left of the record; 0: nothing. */
static uint64_t cut(uint64_t site, unsigned mask)
{
	site &= ~((uint64_t)mask << 48);
	return site >> 48 & 0xff ? site : 0;
}

static void forget_cell(struct shadow *s, struct page *page, unsigned cell, unsigned mask)
{
	uint32_t *link = &page->more[cell];

	page->written[cell] = 0;
	for (unsigned i = 0; i < SHADOW_HOMES; i++)
		page->cells[cell].home[i].site = cut(page->cells[cell].home[i].site, mask);
	while (*link) {
		struct record *r = &s->pool[*link];

		r->site = cut(r->site, mask);
		if (r->site == 0)
			shadow_drop(s, link);
		else
			link = &s->next[*link];
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

#include "analyze/race/access_records.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/page_array.h"

#define FIRST_POOL 1024u	/* records; whole pages */
#define FIRST_ROOM 128u		/* pages: all of theirs is whole ones of the machine */
#define ALL ((size_t)SHADOW_PAGES * SHADOW_CELLS)

/* Memory for so many pages. */
static void set_room(struct shadow *s, size_t room)
{
	for (uint64_t lane = 0; lane < SHADOW_LANES; lane++) {
		size_t at = shadow_index(0, lane), from = s->page_room * SHADOW_LANE, to = room * SHADOW_LANE;

		pages_open(s->cells + at, from * sizeof(*s->cells), to * sizeof(*s->cells));
		pages_open(s->more + at, from * sizeof(*s->more), to * sizeof(*s->more));
		pages_open(s->written + at, from * sizeof(*s->written), to * sizeof(*s->written));
		pages_open(s->hints + at, from * sizeof(*s->hints), to * sizeof(*s->hints));
	}
	s->numbers = xrealloc(s->numbers, room * sizeof(*s->numbers));
	s->page_room = room;
}

static void begin(struct shadow *s)
{
	s->cells = pages_reserve(ALL * sizeof(*s->cells));
	s->more = pages_reserve(ALL * sizeof(*s->more));
	s->written = pages_reserve(ALL * sizeof(*s->written));
	s->hints = pages_reserve(ALL * sizeof(*s->hints));
	s->page_count = 1;
	s->page_room = 0;
	set_room(s, FIRST_ROOM);
}

static void end(struct shadow *s)
{
	pages_free(s->cells, ALL * sizeof(*s->cells));
	pages_free(s->more, ALL * sizeof(*s->more));
	pages_free(s->written, ALL * sizeof(*s->written));
	pages_free(s->hints, ALL * sizeof(*s->hints));
}

void shadow_init(struct shadow *s)
{
	*s = (struct shadow){ .pool_count = 2, .table_size = 1024, .page_limit = SHADOW_PAGES };
	s->pages = xcalloc(s->table_size, sizeof(*s->pages));
	begin(s);
}

void shadow_free(struct shadow *s)
{
	end(s);
	free(s->pages);
	free(s->numbers);
	pages_free(s->pool, s->pool_capacity * sizeof(*s->pool));
}

static uint32_t *page_place(const struct shadow *s, uint64_t number)
{
	size_t i = hash_spread(number) >> 24 & (s->table_size - 1);

	while (s->pages[i] && s->numbers[s->pages[i]] != number)
		i = (i + 1) & (s->table_size - 1);
	return &s->pages[i];
}

static void grow_table(struct shadow *s)
{
	free(s->pages);
	s->table_size *= 2;
	s->pages = xcalloc(s->table_size, sizeof(*s->pages));
	for (uint32_t page = 1; page < s->page_count; page++)
		*page_place(s, s->numbers[page]) = page;
}

static void empty_pool(struct shadow *s)
{
	for (uint32_t page = 1; page < s->page_count; page++)
		for (uint64_t g = 0; g < SHADOW_CELLS; g++) {
			struct more *more = &s->more[shadow_index(page, g)];

			s->dropped += more->count;
			*more = (struct more){ 0 };
		}
	s->pool_count = 2;
	memset(s->free, 0, sizeof(s->free));
}

static void empty(struct shadow *s)
{
	for (uint32_t page = 1; page < s->page_count; page++)
		for (uint64_t g = 0; g < SHADOW_CELLS; g++)
			for (unsigned h = 0; h < SHADOW_HOMES; h++)
				s->dropped += s->cells[shadow_index(page, g)].home[h].site != 0;
	empty_pool(s);
	end(s);
	begin(s);
	memset(s->pages, 0, s->table_size * sizeof(*s->pages));
	memset(s->recent, 0, sizeof(s->recent));
}

uint32_t shadow_page(struct shadow *s, uint64_t number)
{
	uint32_t *at = page_place(s, number);

	if (!*at) {
		if (s->page_count == s->page_limit)
			empty(s);
		if (s->page_count == s->page_room)
			set_room(s, 2 * s->page_room);
		if (s->page_count * 2 >= s->table_size)
			grow_table(s);
		s->numbers[s->page_count] = number;
		at = page_place(s, number);
		*at = (uint32_t)s->page_count++;
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
	unsigned hinted = more->hinted;

	if (!at) {
		empty_pool(s);
		order = 1;
		count = hinted = 0;
		at = block_new(s, order);
	}
	if (count > 0) {
		memcpy(&s->pool[at], &s->pool[more->at], count * sizeof(*s->pool));
		block_free(s, more);
	}
	*more = (struct more){ .at = at, .count = count, .order = order, .hinted = hinted };
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

/* What was never touched stays so. */
static void forget_cell(struct shadow *s, size_t at, unsigned mask)
{
	struct more *more = &s->more[at];
	struct record *home = s->cells[at].home;

	if (s->written[at])
		s->written[at] = 0;
	if (more->count)
		more->hinted = 0;
	for (unsigned i = 0; i < SHADOW_HOMES; i++)
		if (home[i].site)
			home[i].site = cut(home[i].site, mask);
	for (uint32_t i = more->count; i-- > 0; ) {
		struct record *r = &s->pool[more->at + i];

		r->site = cut(r->site, mask);
		if (r->site == 0)
			shadow_drop(s, more, i);
	}
}

/* The part of [addr, end) that is in the page. */
static void forget_page(struct shadow *s, uint32_t page, uint64_t addr, uint64_t end)
{
	uint64_t base = s->numbers[page] << SHADOW_PAGE_SHIFT;
	uint64_t last = base + (1u << SHADOW_PAGE_SHIFT);
	uint64_t at = addr > base ? addr & ~7ull : base;

	for (; at < end && at < last; at += 8)
		forget_cell(s, shadow_index(page, at >> 3), shadow_mask(at, addr, end));
}

void shadow_forget(struct shadow *s, uint64_t addr, uint64_t size)
{
	uint64_t first = addr >> SHADOW_PAGE_SHIFT, last = (addr + size - 1) >> SHADOW_PAGE_SHIFT;

	if (size == 0)
		return;
	if (last - first < s->page_count) {
		for (uint64_t number = first; number <= last; number++) {
			uint32_t page = *page_place(s, number);

			if (page)
				forget_page(s, page, addr, addr + size);
		}
		return;
	}
	for (uint32_t page = 1; page < s->page_count; page++)
		if (s->numbers[page] >= first && s->numbers[page] <= last)
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

void record_candidate(struct candidate *c, const struct record *r, uint64_t granule,
		      const struct event *ev, const struct view *view)
{
	unsigned mask = record_mask(r) & shadow_mask(granule, ev->addr, ev->addr + ev->size);

	*c = (struct candidate){
		.pattern = !(record_access(r) & ACCESS_WRITE) ? PATTERN_RW :
			   access_of(ev->kind) & ACCESS_WRITE ? PATTERN_WW : PATTERN_WR,
		.events = 2, .orders = 1,
		.event = { record_event(r, granule), view_event(view, ev) },
		.order = { { .first = 1, .second = 0 } },
		.addr = granule + (unsigned)__builtin_ctz(mask),
		.size = (unsigned)__builtin_popcount(mask),
	};
	memset(c->hold, -1, sizeof(c->hold));
}

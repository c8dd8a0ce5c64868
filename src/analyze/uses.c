/*
 * Pages of 512 granules by hash; a granule is a list of places in one pool.
 */
#include "analyze/uses.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/access.h"
#include "analyze/pages.h"
#include "base/map.h"
#include "base/mem.h"

#define PAGE_SHIFT 12
#define PAGE_GRANULES 512u

#define RECENT 256u		/* pages found without a search; a power of two */
#define FIRST_ROOM 4096u

struct page {
	uint32_t granules[PAGE_GRANULES];	/* nodes; 0: none */
	uint32_t used;				/* granules that have some */
};

/* The last uses of a place that has more than a few; a free one is linked by the first's `use`. */
struct many {
	struct use_mark mark[USES_KEPT];
};

struct uses {
	struct map pages;	/* number -> struct page */
	struct {
		uint64_t number;
		struct page *page;	/* NULL: none */
	} recent[RECENT];
	struct place *nodes;	/* number 0 is not used */
	size_t node_count, node_room;
	uint32_t free_node;
	struct many *many;	/* 0 is not used */
	size_t many_count, many_room;
	uint32_t free_many;
	struct use *list;
	size_t count, room;
	uint32_t free_use;	/* `references` of free ones links them */
	size_t place_limit, event_limit;
	uint64_t dropped;
};

struct uses *uses_new(size_t places, size_t events)
{
	struct uses *u = xcalloc(1, sizeof(*u));

	u->place_limit = places;
	u->event_limit = events;
	u->node_room = u->room = u->many_room = FIRST_ROOM;
	u->nodes = pages_grow(NULL, 0, u->node_room * sizeof(*u->nodes));
	u->list = pages_grow(NULL, 0, u->room * sizeof(*u->list));
	u->many = pages_grow(NULL, 0, u->many_room * sizeof(*u->many));
	u->node_count = u->count = u->many_count = 1;
	return u;
}

static void page_free(void *ctx, uint64_t key, uint64_t value)
{
	(void)ctx;
	(void)key;
	free((void *)(uintptr_t)value);
}

void uses_free(struct uses *u)
{
	map_each(&u->pages, page_free, NULL);
	map_free(&u->pages);
	pages_free(u->nodes, u->node_room * sizeof(*u->nodes));
	pages_free(u->list, u->room * sizeof(*u->list));
	pages_free(u->many, u->many_room * sizeof(*u->many));
	free(u);
}

struct use *uses_at(const struct uses *u, uint32_t use)
{
	return &u->list[use];
}

uint32_t uses_add(struct uses *u)
{
	uint32_t n = u->free_use;

	if (n) {
		u->free_use = u->list[n].references;
	} else {
		if (u->count == u->room) {
			u->list = pages_grow(u->list, u->room * sizeof(*u->list),
					     2 * u->room * sizeof(*u->list));
			u->room *= 2;
		}
		n = (uint32_t)u->count++;
	}
	u->list[n].references = 0;
	return n;
}

void uses_set(struct uses *u, uint32_t *slot, uint32_t use)
{
	uint32_t old = *slot;

	if (use)
		u->list[use].references++;
	*slot = use;
	if (old && --u->list[old].references == 0) {
		u->list[old].references = u->free_use;
		u->free_use = old;
	}
}

static uint32_t who(uint32_t thread, bool write)
{
	return 2 * thread + write;
}

/* All of them, used or not. */
static struct use_mark *marks(const struct uses *u, const struct place *p, unsigned *room)
{
	*room = p->many ? USES_KEPT : USES_FEW;
	return p->many ? u->many[p->many].mark : (struct use_mark *)p->few;
}

const struct use_mark *uses_last(const struct uses *u, const struct place *place, unsigned *count)
{
	unsigned room, n = 0;
	const struct use_mark *m = marks(u, place, &room);

	while (n < room && m[n].use)
		n++;
	*count = n;
	return m;
}

uint32_t uses_last_of(const struct uses *u, const struct place *place, uint32_t thread, bool write)
{
	unsigned room;
	const struct use_mark *m = marks(u, place, &room);

	for (unsigned i = 0; i < room && m[i].use; i++)
		if (m[i].who == who(thread, write))
			return m[i].use;
	return 0;
}

static uint32_t many_new(struct uses *u)
{
	uint32_t n = u->free_many;

	if (n) {
		u->free_many = u->many[n].mark[0].use;
	} else {
		if (u->many_count == u->many_room) {
			u->many = pages_grow(u->many, u->many_room * sizeof(*u->many),
					     2 * u->many_room * sizeof(*u->many));
			u->many_room *= 2;
		}
		n = (uint32_t)u->many_count++;
	}
	memset(&u->many[n], 0, sizeof(u->many[n]));
	return n;
}

static void many_free(struct uses *u, uint32_t n)
{
	u->many[n].mark[0].use = u->free_many;
	u->free_many = n;
}

/* The few are too few. */
static struct use_mark *widen(struct uses *u, struct place *p)
{
	uint32_t n = many_new(u);

	memcpy(u->many[n].mark, p->few, sizeof(p->few));
	p->many = n;
	return u->many[n].mark;
}

void uses_note(struct uses *u, struct place *place, uint32_t use)
{
	uint32_t me = who(u->list[use].at.thread, u->list[use].access & ACCESS_WRITE);
	unsigned i = 0, room;
	struct use_mark *m = marks(u, place, &room);

	while (i < room && m[i].use && m[i].who != me)
		i++;
	if (i == USES_FEW && room == USES_FEW) {
		m = widen(u, place);
	} else if (i == room) {
		u->dropped++;
		i--;
	}
	u->list[use].references++;
	uses_set(u, &m[i].use, 0);
	memmove(m + 1, m, i * sizeof(*m));
	m[0] = (struct use_mark){ use, me };
}

uint64_t uses_dropped(const struct uses *u)
{
	return u->dropped;
}

static struct page *page_at(struct uses *u, uint64_t number, bool make)
{
	size_t near = number % RECENT;
	uint64_t *found;

	if (u->recent[near].page && u->recent[near].number == number)
		return u->recent[near].page;
	found = make ? map_put(&u->pages, number, NULL) : map_find(&u->pages, number);
	if (!found || (!*found && !make))
		return NULL;
	if (!*found)
		*found = (uintptr_t)xcalloc(1, sizeof(struct page));
	u->recent[near].number = number;
	u->recent[near].page = (struct page *)(uintptr_t)*found;
	return u->recent[near].page;
}

static uint32_t node_new(struct uses *u, struct page *page, uint64_t granule)
{
	uint32_t n = u->free_node, *first = &page->granules[granule % PAGE_GRANULES];

	if (n) {
		u->free_node = u->nodes[n].next;
	} else {
		if (u->node_count == u->node_room) {
			u->nodes = pages_grow(u->nodes, u->node_room * sizeof(*u->nodes),
					      2 * u->node_room * sizeof(*u->nodes));
			u->node_room *= 2;
		}
		n = (uint32_t)u->node_count++;
	}
	memset(&u->nodes[n], 0, sizeof(u->nodes[n]));
	u->nodes[n].next = *first;
	page->used += !*first;
	*first = n;
	return n;
}

/* What is not in `mask` goes to a copy. */
static void split(struct uses *u, struct page *page, uint64_t granule, uint32_t n, uint8_t mask)
{
	uint32_t copy = node_new(u, page, granule);
	struct place *p = &u->nodes[copy];
	const struct use_mark *m;
	unsigned count;
	uint32_t next;

	next = p->next;
	*p = u->nodes[n];
	p->next = next;
	p->mask &= (uint8_t)~mask;
	u->nodes[n].mask &= mask;
	if (p->many) {
		p->many = many_new(u);
		u->many[p->many] = u->many[u->nodes[n].many];
	}
	m = uses_last(u, p, &count);
	for (unsigned i = 0; i < count; i++)
		u->list[m[i].use].references++;
	u->list[p->first].references++;
	u->list[p->latest].references++;
	u->list[p->last_write].references++;
}

static uint8_t bytes_within(uint64_t granule, uint64_t addr, uint64_t end)
{
	uint64_t low = granule * 8 < addr ? addr - granule * 8 : 0;
	uint64_t high = granule * 8 + 8 > end ? end - granule * 8 : 8;

	return (uint8_t)((0xffu << low) & (0xffu >> (8 - high)));
}

/* No room: all is forgotten. */
static void forget_all(struct uses *u)
{
	u->dropped += u->node_count - 1;
	map_each(&u->pages, page_free, NULL);
	map_free(&u->pages);
	memset(u->recent, 0, sizeof(u->recent));
	u->node_count = u->count = u->many_count = 1;
	u->free_node = u->free_use = u->free_many = 0;
}

void uses_prefetch(const struct uses *u, uint64_t addr, unsigned step)
{
	uint64_t number = addr >> PAGE_SHIFT;
	const struct page *page = u->recent[number % RECENT].page;
	uint32_t n;

	if (!page || u->recent[number % RECENT].number != number)
		return;
	n = step ? page->granules[addr / 8 % PAGE_GRANULES] : 0;
	if (step == 0)
		__builtin_prefetch(&page->granules[addr / 8 % PAGE_GRANULES]);
	else if (step == 1)
		__builtin_prefetch(&u->nodes[n], 1);
	else if (n && !u->nodes[n].many)
		__builtin_prefetch(&u->list[u->nodes[n].few[0].use].references, 1);
	else if (n)
		__builtin_prefetch(&u->many[u->nodes[n].many], 1);
}

void uses_each(struct uses *u, uint64_t addr, uint64_t size,
	       void (*fn)(void *ctx, struct place *place), void *ctx)
{
	uint64_t end = addr + size;

	if (u->node_count > u->place_limit || u->count > u->event_limit)
		forget_all(u);
	for (uint64_t g = addr / 8; g * 8 < end; g++) {
		struct page *page = page_at(u, g / PAGE_GRANULES, true);
		uint8_t mask = bytes_within(g, addr, end), missing = mask;

		for (uint32_t n = page->granules[g % PAGE_GRANULES]; n; n = u->nodes[n].next) {
			uint8_t had = u->nodes[n].mask;

			missing &= (uint8_t)~had;
			if ((had & mask) && (had & ~mask))
				split(u, page, g, n, mask);
		}
		if (missing) {
			uint32_t n = node_new(u, page, g);	/* may move them all */

			u->nodes[n].mask = missing;
		}
		for (uint32_t n = page->granules[g % PAGE_GRANULES]; n; n = u->nodes[n].next)
			if (u->nodes[n].mask & mask)
				fn(ctx, &u->nodes[n]);
	}
}

/*
 * Granules in [addr, end) of pages that have some, page by page; a range of more pages
 * than there are (unmapping a terabyte) goes through those there are.
 */
static void each_granule(struct uses *u, uint64_t addr, uint64_t end,
			 void (*fn)(struct uses *u, struct page *page, uint64_t granule, void *ctx),
			 void *ctx)
{
	uint64_t first = addr / 8 / PAGE_GRANULES, last = (end - 1) / 8 / PAGE_GRANULES;
	bool sparse = last - first > u->pages.capacity;
	size_t count = sparse ? u->pages.capacity : last - first + 1;

	for (size_t i = 0; i < count && addr < end; i++) {
		uint64_t number = sparse ? u->pages.entries[i].key : first + i;
		struct page *page = number >= first && number <= last ? page_at(u, number, false) : NULL;
		uint64_t g = number * PAGE_GRANULES;

		for (uint64_t k = 0; page && page->used && k < PAGE_GRANULES; k++, g++)
			if (page->granules[k] && g * 8 < end && g * 8 + 8 > addr)
				fn(u, page, g, ctx);
	}
}

struct range {
	uint64_t addr, end;
	void (*fn)(void *ctx, struct place *place);
	void *ctx;
};

static void granule_known(struct uses *u, struct page *page, uint64_t granule, void *ctx)
{
	const struct range *r = ctx;

	for (uint32_t n = page->granules[granule % PAGE_GRANULES]; n; n = u->nodes[n].next)
		if (u->nodes[n].mask & bytes_within(granule, r->addr, r->end))
			r->fn(r->ctx, &u->nodes[n]);
}

void uses_known(struct uses *u, uint64_t addr, uint64_t size,
		void (*fn)(void *ctx, struct place *place), void *ctx)
{
	struct range r = { addr, addr + size, fn, ctx };

	each_granule(u, addr, addr + size, granule_known, &r);
}

static void place_clear(struct uses *u, struct place *p)
{
	struct use_mark *m;
	unsigned room;

	uses_set(u, &p->first, 0);
	uses_set(u, &p->latest, 0);
	uses_set(u, &p->last_write, 0);
	m = marks(u, p, &room);
	for (unsigned i = 0; i < room && m[i].use; i++)
		uses_set(u, &m[i].use, 0);
	if (p->many)
		many_free(u, p->many);
	p->many = 0;
}

static void granule_forget(struct uses *u, struct page *page, uint64_t granule, void *ctx)
{
	const struct range *r = ctx;
	uint32_t *at = &page->granules[granule % PAGE_GRANULES];

	while (*at) {
		uint32_t n = *at;
		struct place *node = &u->nodes[n];

		node->mask &= (uint8_t)~bytes_within(granule, r->addr, r->end);
		if (node->mask) {
			at = &node->next;
			continue;
		}
		place_clear(u, node);
		*at = node->next;
		node->next = u->free_node;
		u->free_node = n;
	}
	page->used -= !page->granules[granule % PAGE_GRANULES];
}

void uses_forget(struct uses *u, uint64_t addr, uint64_t size)
{
	struct range r = { addr, addr + size, NULL, NULL };

	each_granule(u, addr, addr + size, granule_forget, &r);
}

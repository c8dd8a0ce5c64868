/*
 * Pages of 512 granules by hash; a granule is a list of places in one pool.
 */
#include "analyze/order/last_access.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/context/access.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/page_array.h"

#define PAGE_SHIFT 12
#define PAGE_GRANULES 512u

#define FIRST_ROOM 4096u

struct uses_page {
	uint32_t granules[PAGE_GRANULES];	/* nodes; 0: none */
	uint32_t used;				/* granules that have some */
};

struct uses *uses_new(size_t places, size_t situations)
{
	struct uses *u = xcalloc(1, sizeof(*u));

	u->place_limit = places;
	u->situation_limit = situations;
	u->node_room = u->some_room = u->many_room = u->latest_room = FIRST_ROOM;
	u->nodes = pages_grow(NULL, 0, u->node_room * sizeof(*u->nodes));
	u->some = pages_grow(NULL, 0, u->some_room * sizeof(*u->some));
	u->many = pages_grow(NULL, 0, u->many_room * sizeof(*u->many));
	u->latest = pages_grow(NULL, 0, u->latest_room * sizeof(*u->latest));
	u->node_count = u->some_count = u->many_count = u->latest_count = 1;
	uses_begin_events(u);
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
	pages_free(u->some, u->some_room * sizeof(*u->some));
	pages_free(u->many, u->many_room * sizeof(*u->many));
	pages_free(u->latest, u->latest_room * sizeof(*u->latest));
	uses_end_events(u);
	free(u);
}

uint64_t uses_dropped(const struct uses *u)
{
	return u->dropped;
}

static struct uses_page *page_at(struct uses *u, uint64_t number, bool make)
{
	size_t near = number % USES_RECENT;
	uint64_t *found;

	if (u->recent[near].page && u->recent[near].number == number)
		return u->recent[near].page;
	found = make ? map_put(&u->pages, number, NULL) : map_find(&u->pages, number);
	if (!found || (!*found && !make))
		return NULL;
	if (!*found)
		*found = (uintptr_t)xcalloc(1, sizeof(struct uses_page));
	u->recent[near].number = number;
	u->recent[near].page = (struct uses_page *)(uintptr_t)*found;
	return u->recent[near].page;
}

static uint32_t node_new(struct uses *u, struct uses_page *page, uint64_t granule)
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
static void split(struct uses *u, struct uses_page *page, uint64_t granule, uint32_t n, uint8_t mask)
{
	uint32_t copy = node_new(u, page, granule), next = u->nodes[copy].next;
	struct place *p = &u->nodes[copy];

	*p = u->nodes[n];
	p->next = next;
	p->mask &= (uint8_t)~mask;
	u->nodes[n].mask &= mask;
	uses_copied(u, p);
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
	u->node_count = u->some_count = u->many_count = u->latest_count = 1;
	u->free_node = u->free_some = u->free_many = u->free_latest = 0;
	uses_begin_events(u);
}

void uses_prefetch(const struct uses *u, uint64_t addr, unsigned step)
{
	uint64_t number = addr >> PAGE_SHIFT;
	const struct uses_page *page = u->recent[number % USES_RECENT].page;
	uint32_t n;

	if (!page || u->recent[number % USES_RECENT].number != number)
		return;
	n = step ? page->granules[addr / 8 % PAGE_GRANULES] : 0;
	if (step == 0)
		__builtin_prefetch(&page->granules[addr / 8 % PAGE_GRANULES]);
	else if (step == 1)
		__builtin_prefetch(&u->nodes[n], 1);
	else if (u->nodes[n].wide)
		__builtin_prefetch(uses_head(u, &u->nodes[n]), 1);
}

/* One granule: what is partly within is split, what is missing made. */
static void at_granule(struct uses *u, uint64_t g, uint8_t mask, uses_visit *fn, void *ctx)
{
	struct uses_page *page = page_at(u, g / PAGE_GRANULES, true);
	uint32_t n = page->granules[g % PAGE_GRANULES];
	uint8_t missing = mask;

	/* Most have one place, which is used as ever. */
	if (n && u->nodes[n].mask == mask && !u->nodes[n].next) {
		fn(ctx, &u->nodes[n], g);
		return;
	}
	for (; n; n = u->nodes[n].next) {
		uint8_t had = (uint8_t)u->nodes[n].mask;

		missing &= (uint8_t)~had;
		if ((had & mask) && (had & ~mask))
			split(u, page, g, n, mask);
	}
	if (missing) {
		n = node_new(u, page, g);	/* may move them all */
		u->nodes[n].mask = missing;
	}
	for (n = page->granules[g % PAGE_GRANULES]; n; n = u->nodes[n].next)
		if (u->nodes[n].mask & mask)
			fn(ctx, &u->nodes[n], g);
}

void uses_each(struct uses *u, uint64_t addr, uint64_t size, uses_visit *fn, void *ctx)
{
	uint64_t end = addr + size;

	if (uses_are_many(u))
		uses_collect(u);
	if (u->node_count > u->place_limit || (u->situation_count > u->situation_limit && !u->free_situation) ||
	    (u->site_count > u->situation_limit && !u->free_site))
		forget_all(u);
	for (uint64_t g = addr / 8; g * 8 < end; g++)
		at_granule(u, g, bytes_within(g, addr, end), fn, ctx);
}

/*
 * Granules in [addr, end) of pages that have some, page by page; a range of more pages
 * than there are (unmapping a terabyte) goes through those there are.
 */
static void each_granule(struct uses *u, uint64_t addr, uint64_t end,
			 void (*fn)(struct uses *u, struct uses_page *page, uint64_t granule, void *ctx),
			 void *ctx)
{
	uint64_t first = addr / 8 / PAGE_GRANULES, last = (end - 1) / 8 / PAGE_GRANULES;
	bool sparse = last - first > u->pages.capacity;
	size_t count = sparse ? u->pages.capacity : last - first + 1;

	for (size_t i = 0; i < count && addr < end; i++) {
		uint64_t number = sparse ? u->pages.entries[i].key : first + i;
		struct uses_page *page = number >= first && number <= last ? page_at(u, number, false) : NULL;
		uint64_t g = number == first ? addr / 8 : number * PAGE_GRANULES;
		uint64_t behind = number == last ? (end - 1) / 8 + 1 : (number + 1) * PAGE_GRANULES;

		for (; page && page->used && g < behind; g++)
			if (page->granules[g % PAGE_GRANULES])
				fn(u, page, g, ctx);
	}
}

struct range {
	uint64_t addr, end;
	uses_visit *fn;
	void *ctx;
};

static void granule_known(struct uses *u, struct uses_page *page, uint64_t granule, void *ctx)
{
	const struct range *r = ctx;

	for (uint32_t n = page->granules[granule % PAGE_GRANULES]; n; n = u->nodes[n].next)
		if (u->nodes[n].mask & bytes_within(granule, r->addr, r->end))
			r->fn(r->ctx, &u->nodes[n], granule);
}

void uses_known(struct uses *u, uint64_t addr, uint64_t size, uses_visit *fn, void *ctx)
{
	struct range r = { addr, addr + size, fn, ctx };

	each_granule(u, addr, addr + size, granule_known, &r);
}

static void granule_forget(struct uses *u, struct uses_page *page, uint64_t granule, void *ctx)
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
		*at = node->next;
		uses_dropped_place(u, node);
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

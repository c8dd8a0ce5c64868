/*
 * Finds the locations of an access: a hash table of pages, a list of locations for each granule.
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

struct location_page {
	uint32_t granules[PAGE_GRANULES];	/* first location of each; 0: none */
	uint32_t used;				/* granules that have a location */
};

struct last_accesses *last_access_new(size_t locations, size_t segments)
{
	struct last_accesses *u = xcalloc(1, sizeof(*u));

	u->location_limit = locations;
	u->segment_limit = segments;
	u->location_room = u->small_room = u->large_room = u->latest_room = FIRST_ROOM;
	u->locations = pages_grow(NULL, 0, u->location_room * sizeof(*u->locations));
	u->small = pages_grow(NULL, 0, u->small_room * sizeof(*u->small));
	u->large = pages_grow(NULL, 0, u->large_room * sizeof(*u->large));
	u->latest = pages_grow(NULL, 0, u->latest_room * sizeof(*u->latest));
	u->location_count = u->small_count = u->large_count = u->latest_count = 1;
	last_access_init_segments(u);
	return u;
}

static void page_free(void *ctx, uint64_t key, uint64_t value)
{
	(void)ctx;
	(void)key;
	free((void *)(uintptr_t)value);
}

void last_access_free(struct last_accesses *u)
{
	map_each(&u->pages, page_free, NULL);
	map_free(&u->pages);
	pages_free(u->locations, u->location_room * sizeof(*u->locations));
	pages_free(u->small, u->small_room * sizeof(*u->small));
	pages_free(u->large, u->large_room * sizeof(*u->large));
	pages_free(u->latest, u->latest_room * sizeof(*u->latest));
	last_access_free_segments(u);
	free(u);
}

uint64_t last_access_dropped(const struct last_accesses *u)
{
	return u->dropped;
}

static struct location_page *page_at(struct last_accesses *u, uint64_t number, bool make)
{
	size_t slot = number % LAST_ACCESS_CACHED_PAGES;
	uint64_t *found;

	if (u->page_cache[slot].page && u->page_cache[slot].number == number)
		return u->page_cache[slot].page;
	found = make ? map_put(&u->pages, number, NULL) : map_find(&u->pages, number);
	if (!found || (!*found && !make))
		return NULL;
	if (!*found)
		*found = (uintptr_t)xcalloc(1, sizeof(struct location_page));
	u->page_cache[slot].number = number;
	u->page_cache[slot].page = (struct location_page *)(uintptr_t)*found;
	return u->page_cache[slot].page;
}

static uint32_t location_new(struct last_accesses *u, struct location_page *page, uint64_t granule)
{
	uint32_t n = u->free_location, *first = &page->granules[granule % PAGE_GRANULES];

	if (n) {
		u->free_location = u->locations[n].next;
	} else {
		if (u->location_count == u->location_room) {
			u->locations = pages_grow(u->locations,
						  u->location_room * sizeof(*u->locations),
						  2 * u->location_room * sizeof(*u->locations));
			u->location_room *= 2;
		}
		n = (uint32_t)u->location_count++;
	}
	memset(&u->locations[n], 0, sizeof(u->locations[n]));
	u->locations[n].next = *first;
	page->used += !*first;
	*first = n;
	return n;
}

/* Splits location `n`: its bytes that are not in `mask` go to a copy. */
static void split(struct last_accesses *u, struct location_page *page, uint64_t granule, uint32_t n,
		  uint8_t mask)
{
	uint32_t copy = location_new(u, page, granule), next = u->locations[copy].next;
	struct location *p = &u->locations[copy];

	*p = u->locations[n];
	p->next = next;
	p->mask &= (uint8_t)~mask;
	u->locations[n].mask &= mask;
	last_access_copy_overflow(u, p);
}

static uint8_t bytes_within(uint64_t granule, uint64_t addr, uint64_t end)
{
	uint64_t low = granule * 8 < addr ? addr - granule * 8 : 0;
	uint64_t high = granule * 8 + 8 > end ? end - granule * 8 : 8;

	return (uint8_t)((0xffu << low) & (0xffu >> (8 - high)));
}

/* Forgets all locations and segments, because a limit is reached. */
static void forget_all(struct last_accesses *u)
{
	u->dropped += u->location_count - 1;
	map_each(&u->pages, page_free, NULL);
	map_free(&u->pages);
	memset(u->page_cache, 0, sizeof(u->page_cache));
	u->location_count = u->small_count = u->large_count = u->latest_count = 1;
	u->free_location = u->free_small = u->free_large = u->free_latest = 0;
	last_access_init_segments(u);
}

void last_access_prefetch(const struct last_accesses *u, uint64_t addr, unsigned step)
{
	uint64_t number = addr >> PAGE_SHIFT;
	const struct location_page *page = u->page_cache[number % LAST_ACCESS_CACHED_PAGES].page;
	uint32_t n;

	if (!page || u->page_cache[number % LAST_ACCESS_CACHED_PAGES].number != number)
		return;
	n = step ? page->granules[addr / 8 % PAGE_GRANULES] : 0;
	if (step == 0)
		__builtin_prefetch(&page->granules[addr / 8 % PAGE_GRANULES]);
	else if (step == 1)
		__builtin_prefetch(&u->locations[n], 1);
	else if (u->locations[n].overflow)
		__builtin_prefetch(last_access_head(u, &u->locations[n]), 1);
}

/* Calls back for the locations of a granule. Splits those partly in `mask`, adds a missing one. */
static void at_granule(struct last_accesses *u, uint64_t g, uint8_t mask, location_visit *fn,
		       void *ctx)
{
	struct location_page *page = page_at(u, g / PAGE_GRANULES, true);
	uint32_t n = page->granules[g % PAGE_GRANULES];
	uint8_t missing = mask;

	/* Most granules have one location, which all accesses touch as a whole. */
	if (n && u->locations[n].mask == mask && !u->locations[n].next) {
		fn(ctx, &u->locations[n], g);
		return;
	}
	for (; n; n = u->locations[n].next) {
		uint8_t had = (uint8_t)u->locations[n].mask;

		missing &= (uint8_t)~had;
		if ((had & mask) && (had & ~mask))
			split(u, page, g, n, mask);
	}
	if (missing) {
		n = location_new(u, page, g);	/* may move u->locations */
		u->locations[n].mask = missing;
	}
	for (n = page->granules[g % PAGE_GRANULES]; n; n = u->locations[n].next)
		if (u->locations[n].mask & mask)
			fn(ctx, &u->locations[n], g);
}

void last_access_each(struct last_accesses *u, uint64_t addr, uint64_t size, location_visit *fn,
		      void *ctx)
{
	uint64_t end = addr + size;

	if (last_access_wants_gc(u))
		last_access_gc(u);
	if (u->location_count > u->location_limit ||
	    (u->segment_count > u->segment_limit && !u->free_segment) ||
	    (u->site_count > u->segment_limit && !u->free_site))
		forget_all(u);
	for (uint64_t g = addr / 8; g * 8 < end; g++)
		at_granule(u, g, bytes_within(g, addr, end), fn, ctx);
}

/*
 * Calls back for each granule in [addr, end) that has locations. If the range has more pages than
 * the table, as when a terabyte is unmapped, visits the table instead of the range.
 */
static void each_granule(struct last_accesses *u, uint64_t addr, uint64_t end,
			 void (*fn)(struct last_accesses *u, struct location_page *page,
			 uint64_t granule, void *ctx), void *ctx)
{
	uint64_t first = addr / 8 / PAGE_GRANULES, last = (end - 1) / 8 / PAGE_GRANULES;
	bool sparse = last - first > u->pages.capacity;
	size_t count = sparse ? u->pages.capacity : last - first + 1;

	for (size_t i = 0; i < count && addr < end; i++) {
		uint64_t number = sparse ? u->pages.entries[i].key : first + i;
		struct location_page *page = number >= first && number <= last ?
					     page_at(u, number, false) : NULL;
		uint64_t g = number == first ? addr / 8 : number * PAGE_GRANULES;
		uint64_t behind = number == last ? (end - 1) / 8 + 1 : (number + 1) * PAGE_GRANULES;

		for (; page && page->used && g < behind; g++)
			if (page->granules[g % PAGE_GRANULES])
				fn(u, page, g, ctx);
	}
}

struct range {
	uint64_t addr, end;
	location_visit *fn;
	void *ctx;
};

static void granule_known(struct last_accesses *u, struct location_page *page, uint64_t granule,
			  void *ctx)
{
	const struct range *r = ctx;

	for (uint32_t n = page->granules[granule % PAGE_GRANULES]; n; n = u->locations[n].next)
		if (u->locations[n].mask & bytes_within(granule, r->addr, r->end))
			r->fn(r->ctx, &u->locations[n], granule);
}

void last_access_each_known(struct last_accesses *u, uint64_t addr, uint64_t size,
			    location_visit *fn, void *ctx)
{
	struct range r = { addr, addr + size, fn, ctx };

	each_granule(u, addr, addr + size, granule_known, &r);
}

static void granule_forget(struct last_accesses *u, struct location_page *page, uint64_t granule,
			   void *ctx)
{
	const struct range *r = ctx;
	uint32_t *at = &page->granules[granule % PAGE_GRANULES];

	while (*at) {
		uint32_t n = *at;
		struct location *node = &u->locations[n];

		node->mask &= (uint8_t)~bytes_within(granule, r->addr, r->end);
		if (node->mask) {
			at = &node->next;
			continue;
		}
		*at = node->next;
		last_access_clear_location(u, node);
		node->next = u->free_location;
		u->free_location = n;
	}
	page->used -= !page->granules[granule % PAGE_GRANULES];
}

void last_access_forget(struct last_accesses *u, uint64_t addr, uint64_t size)
{
	struct range r = { addr, addr + size, NULL, NULL };

	each_granule(u, addr, addr + size, granule_forget, &r);
}

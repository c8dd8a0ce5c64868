#include "analyze/context/granules.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define PAGE 64u	/* granules */

struct granules_page {
	uint32_t number[PAGE];
};

struct granules_slot {
	uint64_t key;		/* granule / PAGE, plus 1; 0: free */
	uint32_t page;
};

void granules_init(struct granules *g)
{
	*g = (struct granules){ .slot_count = 1024 };
	g->slots = xcalloc(g->slot_count, sizeof(*g->slots));
}

void granules_free(struct granules *g)
{
	free(g->pages);
	free(g->slots);
	*g = (struct granules){ 0 };
}

static inline struct granules_slot *slot_of(const struct granules *g, uint64_t key)
{
	size_t i = (hash_spread(key) >> 24) & (g->slot_count - 1);

	while (g->slots[i].key && g->slots[i].key != key)
		i = (i + 1) & (g->slot_count - 1);
	return &g->slots[i];
}

static void grow(struct granules *g)
{
	struct granules_slot *old = g->slots;
	size_t count = g->slot_count;

	g->slot_count *= 2;
	g->slots = xcalloc(g->slot_count, sizeof(*g->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].key)
			*slot_of(g, old[i].key) = old[i];
	free(old);
}

uint32_t *granules_at(struct granules *g, uint64_t granule)
{
	uint64_t key = granule / PAGE + 1;
	struct granules_slot *s = slot_of(g, key);

	if (!s->key) {
		if (g->page_count * 2 >= g->slot_count) {
			grow(g);
			s = slot_of(g, key);
		}
		g->pages = xgrow(g->pages, g->page_count, &g->page_capacity, sizeof(*g->pages));
		memset(&g->pages[g->page_count], 0, sizeof(*g->pages));
		*s = (struct granules_slot){ key, (uint32_t)g->page_count++ };
	}
	return &g->pages[s->page].number[granule % PAGE];
}

static void each_in_page(struct granules *g, const struct granules_slot *s, uint64_t first,
			 uint64_t end, void (*fn)(void *ctx, uint32_t *number), void *ctx)
{
	uint64_t base = (s->key - 1) * PAGE;
	uint64_t from = first > base ? first - base : 0;
	uint64_t to = end < base + PAGE ? end - base : PAGE;

	if (base >= end || base + PAGE <= first)
		return;
	for (uint64_t i = from; i < to; i++)
		if (g->pages[s->page].number[i])
			fn(ctx, &g->pages[s->page].number[i]);
}

void granules_each(struct granules *g, uint64_t addr, uint64_t size,
		   void (*fn)(void *ctx, uint32_t *number), void *ctx)
{
	uint64_t last = size > UINT64_MAX - addr ? UINT64_MAX : addr + size - 1;
	uint64_t first = addr / GRANULE_BYTES, end = last / GRANULE_BYTES + 1;

	if (!size)
		return;
	/* The range has more pages than exist: visit the existing ones. */
	if ((end - first) / PAGE >= g->page_count) {
		for (size_t i = 0; i < g->slot_count; i++)
			if (g->slots[i].key)
				each_in_page(g, &g->slots[i], first, end, fn, ctx);
		return;
	}
	for (uint64_t p = first / PAGE; p * PAGE < end; p++) {
		const struct granules_slot *s = slot_of(g, p + 1);

		if (s->key)
			each_in_page(g, s, first, end, fn, ctx);
	}
}

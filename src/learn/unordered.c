#include "learn/unordered.h"

#include <stdlib.h>

#include "analyze/track.h"
#include "base/mem.h"

#define CELL_ACCESSES 256u	/* different ones of a granule; more are not looked at */

/* The last one of a thread at a site: who is after it is after all of them. */
struct last {
	uint32_t thread, site;
	uint64_t epoch;
	uint8_t mask, write;	/* bytes of the granule */
};

struct cell {
	struct last *items;
	size_t count, capacity;
};

struct unordered {
	struct analysis_context ctx;
	struct track track;
	struct cells cells;
	struct learn_pairs pairs;	/* the lower number first */
};

static void clear(void *item)
{
	free(((struct cell *)item)->items);
}

struct unordered *unordered_new(const struct reader *trace)
{
	struct unordered *u = xcalloc(1, sizeof(*u));

	analysis_context_init(&u->ctx);
	u->ctx.reader = trace;
	track_init(&u->track, &u->ctx);
	cells_init(&u->cells, GRANULE_BYTES, sizeof(struct cell));
	return u;
}

void unordered_free(struct unordered *u)
{
	track_free(&u->track);
	analysis_context_free(&u->ctx);
	cells_free(&u->cells, clear);
	learn_pairs_free(&u->pairs);
	free(u);
}

static void see(struct unordered *u, struct cell *c, const struct last *now, const struct view *view)
{
	struct last *same = NULL;

	for (size_t i = 0; i < c->count; i++) {
		struct last *old = &c->items[i];

		if (old->thread == now->thread) {
			if (old->site == now->site)
				same = old;
		} else if ((old->write || now->write) && old->mask & now->mask &&
			   !vclock_saw(view->strong, old->thread, old->epoch)) {
			learn_pairs_add(&u->pairs, old->site < now->site ? old->site : now->site,
					old->site < now->site ? now->site : old->site);
		}
	}
	if (!same && c->count < CELL_ACCESSES) {
		c->items = xgrow(c->items, c->count, &c->capacity, sizeof(*c->items));
		same = &c->items[c->count++];
		*same = *now;
	} else if (same) {
		same->epoch = now->epoch;
		same->mask |= now->mask;
	}
}

static uint8_t mask_of(uint64_t base, uint64_t addr, uint64_t end)
{
	unsigned from = addr > base ? (unsigned)(addr - base) : 0;
	unsigned to = end < base + GRANULE_BYTES ? (unsigned)(end - base) : GRANULE_BYTES;

	return (uint8_t)((1u << to) - (1u << from));
}

void unordered_event(struct unordered *u, const struct event *ev, uint32_t site)
{
	const struct view *view = track_before(&u->track, ev);
	unsigned access = access_of(ev->kind);
	uint64_t end = ev->addr + ev->size;

	if (!view)
		return;
	if (view->gone_size)
		cells_forget(&u->cells, view->gone_addr, view->gone_size, clear);
	if (access && ev->size && !view_ignores(view, access))
		for (uint64_t base = ev->addr & ~(uint64_t)(GRANULE_BYTES - 1); base < end;
		     base += GRANULE_BYTES) {
			struct last now = { .thread = ev->thread, .site = site, .epoch = view->strong_epoch,
					    .mask = mask_of(base, ev->addr, end),
					    .write = (access & ACCESS_WRITE) != 0 };

			see(u, cells_get(&u->cells, base / GRANULE_BYTES), &now, view);
		}
	track_after(&u->track, ev);
}

bool unordered_have(const struct unordered *u, uint32_t a, uint32_t b)
{
	return learn_pairs_have(&u->pairs, a < b ? a : b, a < b ? b : a);
}

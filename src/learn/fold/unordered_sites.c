#include "learn/fold/unordered_sites.h"

#include <stdlib.h>

#include "base/mem.h"
#include "coverage/fold/event_step.h"
#include "coverage/trace_coverage.h"

#define CELL_ACCESSES 256u	/* per granule; further ones are dropped: bounds time */
#define RECENT 16u		/* blocks per thread; further ones count as published */

/*
 * The last access of a thread at a site. An access that is ordered after it is ordered after all
 * earlier ones.
 */
struct last {
	uint32_t thread, site, lockset;
	uint64_t epoch;
	uint8_t mask, write;	/* mask: bytes of the granule */
};

/*
 * Blocks that a thread allocated since its last release, creation or other event that a thread
 * may follow.
 */
struct recent {
	struct {
		uint64_t addr, end;
	} blocks[RECENT];
	unsigned count;
};

struct cell {
	struct last *items;
	size_t count, capacity;
};

struct unordered {
	struct locks *locks;
	struct cells cells;
	struct learn_pairs pairs, races;	/* (A, B) with A <= B */
	struct learn_pairs first, after;	/* (M, M) */
	struct recent *recent;	/* by thread */
	size_t recent_count;
	/* by site: another thread may have known the memory at some access */
	uint8_t *published;
	size_t published_count;
};

static void clear(void *item)
{
	free(((struct cell *)item)->items);
}

struct unordered *unordered_new(struct locks *locks)
{
	struct unordered *u = xcalloc(1, sizeof(*u));

	u->locks = locks;
	cells_init(&u->cells, GRANULE_BYTES, sizeof(struct cell));
	return u;
}

void unordered_free(struct unordered *u)
{
	if (!u)
		return;
	cells_free(&u->cells, clear);
	learn_pairs_free(&u->pairs);
	learn_pairs_free(&u->races);
	learn_pairs_free(&u->first);
	learn_pairs_free(&u->after);
	free(u->recent);
	free(u->published);
	free(u);
}

static void add_unordered(struct unordered *u, const struct last *a, const struct last *b)
{
	uint32_t low = a->site < b->site ? a->site : b->site,
		 high = a->site < b->site ? b->site : a->site;

	learn_pairs_add(&u->pairs, low, high);
	if (!locks_exclude(u->locks, a->lockset, b->lockset))
		learn_pairs_add(&u->races, low, high);
}

static void add_access(struct unordered *u, struct cell *c, const struct last *now,
		       const struct view *view)
{
	struct last *same = NULL;
	bool after = false;

	for (size_t i = 0; i < c->count; i++) {
		struct last *old = &c->items[i];

		if (old->thread == now->thread) {
			if (old->site == now->site && old->lockset == now->lockset)
				same = old;
		} else if ((old->write || now->write) && old->mask & now->mask &&
			   !vclock_saw(view->strong, old->thread, old->epoch)) {
			add_unordered(u, old, now);
			after = true;
		}
	}
	learn_pairs_add(after ? &u->after : &u->first, now->site, now->site);
	if (!same && c->count < CELL_ACCESSES) {
		c->items = xgrow(c->items, c->count, &c->capacity, sizeof(*c->items));
		same = &c->items[c->count++];
		*same = *now;
	} else if (same) {
		same->epoch = now->epoch;
		same->mask |= now->mask;
	}
}

static bool is_recent(const struct recent *r, uint64_t addr, uint64_t end)
{
	for (unsigned i = 0; i < r->count; i++)
		if (addr >= r->blocks[i].addr && end <= r->blocks[i].end)
			return true;
	return false;
}

/* Tracks the recent blocks of the thread; marks the site if it accesses other memory. */
static void follow_blocks(struct unordered *u, const struct event *ev, uint32_t site)
{
	struct iroot_step steps[TRACE_STEPS];
	unsigned count = iroot_steps(ev, steps);
	struct recent *r;

	u->recent = xreach(u->recent, ev->thread, &u->recent_count, sizeof(*u->recent));
	r = &u->recent[ev->thread];
	for (unsigned i = 0; i < count; i++)
		switch (steps[i].op) {
		case IROOT_OP_READ: case IROOT_OP_WRITE:
			if (site && !is_recent(r, steps[i].addr, steps[i].addr + steps[i].size)) {
				u->published = xreach(u->published, site, &u->published_count, 1);
				u->published[site] = 1;
			}
			break;
		case IROOT_OP_FRESH:
			if (ev->kind != TRACE_FREE && r->count < RECENT) {
				r->blocks[r->count].addr = steps[i].addr;
				r->blocks[r->count++].end = steps[i].addr + steps[i].size;
			}
			break;
		case IROOT_OP_RELEASE:
		case IROOT_OP_SIGNAL:
		case IROOT_OP_BARRIER_ENTER:
		case IROOT_OP_CREATE: r->count = 0; break;
		}
}

static uint8_t mask_of(uint64_t base, uint64_t addr, uint64_t end)
{
	unsigned from = addr > base ? (unsigned)(addr - base) : 0;
	unsigned to = end < base + GRANULE_BYTES ? (unsigned)(end - base) : GRANULE_BYTES;

	return (uint8_t)((1u << to) - (1u << from));
}

void unordered_event(struct unordered *u, const struct event *ev, uint32_t site,
		     const struct view *view)
{
	unsigned access = access_of(ev->kind);
	uint64_t end = ev->addr + ev->size;

	follow_blocks(u, ev, site);
	if (!view)
		return;
	if (view->gone_size)
		cells_forget(&u->cells, view->gone_addr, view->gone_size, clear);
	if (access && ev->size && !view_ignores(view, access))
		for (uint64_t base = ev->addr & ~(uint64_t)(GRANULE_BYTES - 1); base < end;
		     base += GRANULE_BYTES) {
			struct last now = { .thread = ev->thread,
					    .site = site,
					    .lockset = view->lockset,
					    .epoch = view->strong_epoch,
					    .mask = mask_of(base, ev->addr, end),
					    .write = (access & ACCESS_WRITE) != 0 };

			add_access(u, cells_get(&u->cells, base / GRANULE_BYTES), &now, view);
		}
}

void unordered_forget(struct unordered *u, uint64_t addr, uint64_t size)
{
	cells_forget(&u->cells, addr, size, clear);
}

bool unordered_have(const struct unordered *u, uint32_t a, uint32_t b)
{
	return learn_pairs_have(&u->pairs, a < b ? a : b, a < b ? b : a);
}

bool unordered_private(const struct unordered *u, uint32_t site)
{
	return site >= u->published_count || !u->published[site];
}

static void add_both_orders(const struct unordered *u, const struct learn_pairs *from,
			    struct learn_pairs *to)
{
	for (size_t i = 0; i < from->count; i++) {
		uint32_t a = from->items[i].first, b = from->items[i].second;

		if (unordered_private(u, a) || unordered_private(u, b))
			continue;
		learn_pairs_add(to, a, b);
		learn_pairs_add(to, b, a);
	}
}

void unordered_add_pairs(const struct unordered *u, struct learn_pairs *all,
			 struct learn_pairs *races)
{
	add_both_orders(u, &u->pairs, all);
	add_both_orders(u, &u->races, races);
}

static void add_published(const struct unordered *u, const struct learn_pairs *from,
			  struct learn_pairs *to)
{
	for (size_t i = 0; i < from->count; i++)
		if (!unordered_private(u, from->items[i].first))
			learn_pairs_add(to, from->items[i].first, from->items[i].second);
}

void unordered_add_order(const struct unordered *u, struct learn_pairs *first,
			 struct learn_pairs *after)
{
	add_published(u, &u->first, first);
	add_published(u, &u->after, after);
}

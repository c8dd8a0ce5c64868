#include "analyze/value_flow.h"

#include <stdlib.h>

#include "abi/trace_roles.h"
#include "analyze/context/access.h"
#include "base/hash.h"
#include "base/mem.h"

#define FORGET_MAX 65536u	/* bytes; a larger new block drops the state of all memory */

#define PAGE 16u	/* granules found with one look-up */

/* State of 8 aligned bytes. */
struct granule {
	uint64_t written;	/* index of the last write */
	uint64_t readers;	/* bits by id % 64: threads that read it since they wrote it */
	uint32_t writer;	/* thread of the last write; 0: unknown */
	uint8_t mask;		/* bits: bytes of the last write */
	bool flag;		/* the last write set a flag */
};

struct page {
	struct granule granule[PAGE];
};

struct slot {
	uint64_t key;		/* address / 8 / PAGE, plus 1; 0: free */
	size_t page;
};

struct flow {
	struct slot *slots;	/* hash table */
	size_t slot_count;	/* a power of two */
	struct page *pages;
	size_t count, capacity;
	struct vclock *seen;	/* by thread */
	size_t threads;
};

static void reset(struct flow *f)
{
	f->count = 0;
	f->slot_count = 256;
	f->slots = xcalloc(f->slot_count, sizeof(*f->slots));
}

struct flow *flow_new(void)
{
	struct flow *f = xcalloc(1, sizeof(*f));

	reset(f);
	return f;
}

void flow_free(struct flow *f)
{
	for (size_t i = 0; i < f->threads; i++)
		vclock_free(&f->seen[i]);
	free(f->seen);
	free(f->pages);
	free(f->slots);
	free(f);
}

const struct vclock *flow_seen(struct flow *f, uint32_t thread)
{
	f->seen = xreach(f->seen, thread, &f->threads, sizeof(*f->seen));
	return &f->seen[thread];
}

static inline struct slot *slot_of(const struct flow *f, uint64_t key)
{
	size_t i = (hash_spread(key) >> 24) & (f->slot_count - 1);

	while (f->slots[i].key && f->slots[i].key != key)
		i = (i + 1) & (f->slot_count - 1);
	return &f->slots[i];
}

static void grow(struct flow *f)
{
	struct slot *old = f->slots;
	size_t count = f->slot_count;

	f->slot_count *= 2;
	f->slots = xcalloc(f->slot_count, sizeof(*f->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].key)
			*slot_of(f, old[i].key) = old[i];
	free(old);
}

static struct page *add_page(struct flow *f, uint64_t key)
{
	if (f->count * 2 >= f->slot_count)
		grow(f);
	f->pages = xgrow(f->pages, f->count, &f->capacity, sizeof(*f->pages));
	f->pages[f->count] = (struct page){ 0 };
	*slot_of(f, key) = (struct slot){ key, f->count };
	return &f->pages[f->count++];
}

static inline struct granule *granule_at(struct flow *f, uint64_t number)
{
	const struct slot *s = slot_of(f, number / PAGE + 1);
	struct page *page = s->key ? &f->pages[s->page] : add_page(f, number / PAGE + 1);

	return &page->granule[number % PAGE];
}

static void forget(struct flow *f, uint64_t addr, uint64_t size)
{
	if (size > FORGET_MAX) {
		free(f->slots);
		reset(f);
		return;
	}
	for (uint64_t n = addr / 8; n * 8 < addr + size; n++) {
		const struct slot *s = slot_of(f, n / PAGE + 1);

		if (s->key)
			f->pages[s->page].granule[n % PAGE].writer = 0;
	}
}

static void touch(struct flow *f, const struct event *ev, uint64_t index, uint64_t number)
{
	struct granule *g = granule_at(f, number);
	uint64_t from = ev->addr > number * 8 ? ev->addr - number * 8 : 0;
	uint64_t bit = 1ull << (ev->thread & 63);
	uint64_t to = ev->addr + ev->size < number * 8 + 8 ? ev->addr + ev->size - number * 8 : 8;
	uint8_t mask = (uint8_t)((0xffu << from) & (0xffu >> (8 - to)));
	unsigned access = access_of(ev->kind);

	if (access & ACCESS_READ) {
		/* The last write covers all bytes of the read: the value comes from it alone. */
		if (g->flag && g->writer && g->writer != ev->thread && (mask & ~g->mask) == 0) {
			flow_seen(f, ev->thread);
			vclock_raise(&f->seen[ev->thread], g->writer, g->written + 1);
		}
		g->readers |= bit;
	}
	if (access & ACCESS_WRITE) {
		g->flag = !(g->readers & bit);
		/* An exchange knows the value: a later store that releases a lock is no flag. */
		if (!(access & ACCESS_READ))
			g->readers &= ~bit;
		g->writer = ev->thread;
		g->written = index;
		g->mask = mask;
	}
}

void flow_event(struct flow *f, const struct event *ev, uint64_t index)
{
	if (trace_roles(ev->kind) & ROLE_ALLOC && ev->result == 0)
		forget(f, ev->addr, ev->arg);
	if (!access_of(ev->kind) || ev->size == 0)
		return;
	for (uint64_t n = ev->addr / 8; n * 8 < ev->addr + ev->size; n++)
		touch(f, ev, index, n);
}

bool flow_forbids(const struct candidate *c, const struct vclock *const *seen)
{
	for (unsigned i = 0; i < c->orders; i++) {
		unsigned first = c->order[i].first, second = c->order[i].second;

		if (c->event[first].thread != c->event[second].thread && seen[first] &&
		    vclock_get(seen[first], c->event[second].thread) > c->event[second].index)
			return true;
	}
	return false;
}

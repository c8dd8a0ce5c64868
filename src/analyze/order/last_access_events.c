/*
 * Situations and sites: what uses have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/order/last_access.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/page_array.h"

#define FIRST_ROOM 1024u

/* Nothing is known. */
static void reset(struct uses *u)
{
	u->situation_count = u->site_count = 1;
	u->free_situation = u->free_site = 0;
	u->situations_enough = u->sites_enough = 8 * FIRST_ROOM;
	for (size_t i = 0; i < u->now_count; i++)
		u->now[i] = 0;
	memset(u->slots, 0, u->slot_count * sizeof(*u->slots));
}

void uses_begin_events(struct uses *u)
{
	if (!u->slots) {
		u->situation_room = u->site_room = FIRST_ROOM;
		u->slot_count = 2 * FIRST_ROOM;
		u->situations = pages_grow(NULL, 0, u->situation_room * sizeof(*u->situations));
		u->sites = pages_grow(NULL, 0, u->site_room * sizeof(*u->sites));
		u->slots = xcalloc(u->slot_count, sizeof(*u->slots));
	}
	reset(u);
}

void uses_end_events(struct uses *u)
{
	pages_free(u->situations, u->situation_room * sizeof(*u->situations));
	pages_free(u->sites, u->site_room * sizeof(*u->sites));
	free(u->slots);
	free(u->now);
}

static uint32_t situation_new(struct uses *u)
{
	uint32_t n = u->free_situation;

	if (n) {
		u->free_situation = u->situations[n].next;
		return n;
	}
	if (u->situation_count == u->situation_room) {
		u->situations = pages_grow(u->situations, u->situation_room * sizeof(*u->situations),
					   2 * u->situation_room * sizeof(*u->situations));
		u->situation_room *= 2;
	}
	return (uint32_t)u->situation_count++;
}

static inline bool is_now(const struct situation *was, const struct situation *s)
{
	return was->order_epoch == s->order_epoch && was->strong_epoch == s->strong_epoch &&
	       was->section_reads == s->section_reads && was->lockset == s->lockset &&
	       was->stack == s->stack && s->index - was->index <= UINT32_MAX &&
	       s->time - was->time <= UINT32_MAX;
}

static uint32_t situation_of(struct uses *u, const struct situation *s)
{
	uint32_t n;

	if (s->thread >= u->now_count)
		u->now = xreach(u->now, s->thread, &u->now_count, sizeof(*u->now));
	n = u->now[s->thread];
	if (!n || !is_now(&u->situations[n], s)) {
		n = situation_new(u);
		u->situations[n] = *s;
		u->now[s->thread] = n;
	}
	return n;
}

static inline uint32_t *slot_of(const struct uses *u, const struct site *s)
{
	uint64_t hash = hash_spread(s->pc ^ s->addr << 40 ^ s->addr >> 24 ^ s->size << 20 ^ s->kind);
	size_t i = hash >> 32 & (u->slot_count - 1);

	for (; u->slots[i]; i = (i + 1) & (u->slot_count - 1)) {
		const struct site *had = &u->sites[u->slots[i]];

		if (had->pc == s->pc && had->addr == s->addr && had->size == s->size && had->kind == s->kind)
			break;
	}
	return &u->slots[i];
}

static void more_slots(struct uses *u)
{
	uint32_t *old = u->slots;
	size_t count = u->slot_count;

	u->slot_count *= 2;
	u->slots = xcalloc(u->slot_count, sizeof(*u->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i])
			*slot_of(u, &u->sites[old[i]]) = old[i];
	free(old);
}

static __attribute__((noinline)) uint32_t site_new(struct uses *u, const struct site *s)
{
	uint32_t n = u->free_site;

	if (n) {
		u->free_site = u->sites[n].next;
	} else {
		if (u->site_count == u->site_room) {
			u->sites = pages_grow(u->sites, u->site_room * sizeof(*u->sites),
					      2 * u->site_room * sizeof(*u->sites));
			u->site_room *= 2;
		}
		n = (uint32_t)u->site_count++;
	}
	u->sites[n] = *s;
	if (2 * u->site_count > u->slot_count)
		more_slots(u);
	*slot_of(u, s) = n;
	return n;
}

struct kept uses_make(struct uses *u, const struct situation *s, const struct site *site)
{
	uint32_t situation = situation_of(u, s), n = *slot_of(u, site);

	return (struct kept){
		.situation = situation, .site = n ? n : site_new(u, site),
		.index = (uint32_t)(s->index - u->situations[situation].index),
		.time = (uint32_t)(s->time - u->situations[situation].time),
	};
}

struct use uses_at(const struct uses *u, const struct kept *k, uint64_t granule)
{
	const struct situation *s = &u->situations[k->situation];
	const struct site *site = &u->sites[k->site];
	uint64_t addr = site->addr + (site->size <= USES_NEAR ? granule * 8 : 0);

	return (struct use){
		.at = { .thread = s->thread, .kind = site->kind, .index = s->index + k->index,
			.time = s->time + k->time, .addr = addr, .size = site->size, .pc = site->pc,
			.lockset = s->lockset, .stack = s->stack },
		.order_epoch = s->order_epoch, .section_reads = s->section_reads, .access = site->access,
	};
}

/* Bits of those that are named. */
struct marks {
	uint64_t *situations, *sites;
};

static inline void mark(const struct marks *m, const struct kept *k)
{
	m->situations[k->situation / 64] |= 1ull << k->situation % 64;
	m->sites[k->site / 64] |= 1ull << k->site % 64;
}

/* What is no place, or has no such use, names number 0. */
static void mark_all(const struct uses *u, const struct marks *m)
{
	for (size_t i = 1; i < u->node_count; i++) {
		const struct place *p = &u->nodes[i];

		for (unsigned k = 0; k < 3; k++)
			mark(m, &p->few[k]);
		if (!p->wide && p->more)
			mark(m, &u->latest[p->more]);
		for (unsigned k = 0; p->wide && k < p->count; k++)
			mark(m, &uses_marks(u, p)[k]);
	}
	for (size_t i = 0; i < u->now_count; i++)
		m->situations[u->now[i] / 64] |= 1ull << u->now[i] % 64;
}

/* Returns how many are named. */
static size_t sweep_situations(struct uses *u, const uint64_t *marked)
{
	size_t named = 0;

	u->free_situation = 0;
	for (size_t i = u->situation_count; i-- > 1; ) {
		if (marked[i / 64] >> i % 64 & 1) {
			named++;
		} else {
			u->situations[i].next = u->free_situation;
			u->free_situation = (uint32_t)i;
		}
	}
	return named;
}

static size_t sweep_sites(struct uses *u, const uint64_t *marked)
{
	size_t named = 0;

	memset(u->slots, 0, u->slot_count * sizeof(*u->slots));
	u->free_site = 0;
	for (size_t i = u->site_count; i-- > 1; ) {
		if (marked[i / 64] >> i % 64 & 1) {
			named++;
			*slot_of(u, &u->sites[i]) = (uint32_t)i;
		} else {
			u->sites[i].next = u->free_site;
			u->free_site = (uint32_t)i;
		}
	}
	return named;
}

/* How many more there may be until it is worth while again to look at all places. */
static size_t some_more(const struct uses *u, size_t named)
{
	return 2 * named + u->node_count / 4 + 8 * FIRST_ROOM;
}

void uses_collect(struct uses *u)
{
	struct marks m;

	m.situations = xcalloc(u->situation_count / 64 + 1, sizeof(*m.situations));
	m.sites = xcalloc(u->site_count / 64 + 1, sizeof(*m.sites));
	mark_all(u, &m);
	u->situations_enough = some_more(u, sweep_situations(u, m.situations));
	u->sites_enough = some_more(u, sweep_sites(u, m.sites));
	free(m.situations);
	free(m.sites);
}

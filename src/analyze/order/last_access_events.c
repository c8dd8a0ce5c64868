/*
 * Segments and sites: what packed accesses have in common, and the garbage collection of both.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/order/last_access.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/page_array.h"

#define FIRST_ROOM 1024u

/* Forgets all segments and sites. */
static void reset(struct last_accesses *u)
{
	u->segment_count = u->site_count = 1;
	u->free_segment = u->free_site = 0;
	u->segment_gc_at = u->site_gc_at = 8 * FIRST_ROOM;
	for (size_t i = 0; i < u->current_count; i++)
		u->current[i] = 0;
	memset(u->site_slots, 0, u->site_slot_count * sizeof(*u->site_slots));
}

void last_access_init_segments(struct last_accesses *u)
{
	if (!u->site_slots) {
		u->segment_room = u->site_room = FIRST_ROOM;
		u->site_slot_count = 2 * FIRST_ROOM;
		u->segments = pages_grow(NULL, 0, u->segment_room * sizeof(*u->segments));
		u->sites = pages_grow(NULL, 0, u->site_room * sizeof(*u->sites));
		u->site_slots = xcalloc(u->site_slot_count, sizeof(*u->site_slots));
	}
	reset(u);
}

void last_access_free_segments(struct last_accesses *u)
{
	pages_free(u->segments, u->segment_room * sizeof(*u->segments));
	pages_free(u->sites, u->site_room * sizeof(*u->sites));
	free(u->site_slots);
	free(u->current);
}

static uint32_t segment_new(struct last_accesses *u)
{
	uint32_t n = u->free_segment;

	if (n) {
		u->free_segment = u->segments[n].next;
		return n;
	}
	if (u->segment_count == u->segment_room) {
		u->segments = pages_grow(u->segments, u->segment_room * sizeof(*u->segments),
					 2 * u->segment_room * sizeof(*u->segments));
		u->segment_room *= 2;
	}
	return (uint32_t)u->segment_count++;
}

/* The thread is still in segment `was`, and index and time fit into packed_access. */
static inline bool is_same_segment(const struct thread_segment *was, const struct thread_segment *s)
{
	return was->order_epoch == s->order_epoch && was->strong_epoch == s->strong_epoch &&
	       was->section_reads == s->section_reads && was->lockset == s->lockset &&
	       was->stack == s->stack && s->index - was->index <= UINT32_MAX &&
	       s->time - was->time <= UINT32_MAX;
}

static uint32_t segment_of(struct last_accesses *u, const struct thread_segment *s)
{
	uint32_t n;

	if (s->thread >= u->current_count)
		u->current = xreach(u->current, s->thread, &u->current_count, sizeof(*u->current));
	n = u->current[s->thread];
	if (!n || !is_same_segment(&u->segments[n], s)) {
		n = segment_new(u);
		u->segments[n] = *s;
		u->current[s->thread] = n;
	}
	return n;
}

static inline uint32_t *slot_of(const struct last_accesses *u, const struct access_site *s)
{
	uint64_t hash =
		hash_spread(s->pc ^ s->addr << 40 ^ s->addr >> 24 ^ s->size << 20 ^ s->kind);
	size_t i = hash >> 32 & (u->site_slot_count - 1);

	for (; u->site_slots[i]; i = (i + 1) & (u->site_slot_count - 1)) {
		const struct access_site *had = &u->sites[u->site_slots[i]];

		if (had->pc == s->pc && had->addr == s->addr && had->size == s->size &&
		    had->kind == s->kind)
			break;
	}
	return &u->site_slots[i];
}

static void more_slots(struct last_accesses *u)
{
	uint32_t *old = u->site_slots;
	size_t count = u->site_slot_count;

	u->site_slot_count *= 2;
	u->site_slots = xcalloc(u->site_slot_count, sizeof(*u->site_slots));
	for (size_t i = 0; i < count; i++)
		if (old[i])
			*slot_of(u, &u->sites[old[i]]) = old[i];
	free(old);
}

static __attribute__((noinline)) uint32_t site_new(struct last_accesses *u,
						   const struct access_site *s)
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
	if (2 * u->site_count > u->site_slot_count)
		more_slots(u);
	*slot_of(u, s) = n;
	return n;
}

struct packed_access last_access_pack(struct last_accesses *u, const struct thread_segment *s,
				      const struct access_site *site)
{
	uint32_t segment = segment_of(u, s), n = *slot_of(u, site);

	return (struct packed_access){
		.segment = segment, .site = n ? n : site_new(u, site),
		.index = (uint32_t)(s->index - u->segments[segment].index),
		.time = (uint32_t)(s->time - u->segments[segment].time),
	};
}

struct unpacked_access last_access_unpack(const struct last_accesses *u,
					  const struct packed_access *k, uint64_t granule)
{
	const struct thread_segment *s = &u->segments[k->segment];
	const struct access_site *site = &u->sites[k->site];
	uint64_t addr = site->addr + (site->size <= LAST_ACCESS_RELATIVE ? granule * 8 : 0);

	return (struct unpacked_access){
		.at = { .thread = s->thread, .kind = site->kind, .index = s->index + k->index,
			.time = s->time + k->time, .addr = addr, .size = site->size, .pc = site->pc,
			.lockset = s->lockset, .stack = s->stack },
		.order_epoch = s->order_epoch, .section_reads = s->section_reads,
		.access = site->access,
	};
}

/* Bits of the segments and sites that are in use, by number. */
struct marks {
	uint64_t *segments, *sites;
};

static inline void mark(const struct marks *m, const struct packed_access *k)
{
	m->segments[k->segment / 64] |= 1ull << k->segment % 64;
	m->sites[k->site / 64] |= 1ull << k->site % 64;
}

/* Free locations and missing accesses name segment 0 and site 0. */
static void mark_all(const struct last_accesses *u, const struct marks *m)
{
	for (size_t i = 1; i < u->location_count; i++) {
		const struct location *p = &u->locations[i];

		for (unsigned k = 0; k < 3; k++)
			mark(m, &p->direct[k]);
		if (!p->overflow && p->extra)
			mark(m, &u->latest[p->extra]);
		for (unsigned k = 0; p->overflow && k < p->count; k++)
			mark(m, &last_access_list(u, p)[k]);
	}
	for (size_t i = 0; i < u->current_count; i++)
		m->segments[u->current[i] / 64] |= 1ull << u->current[i] % 64;
}

/* Frees unmarked segments; returns the number of marked ones. */
static size_t sweep_segments(struct last_accesses *u, const uint64_t *marked)
{
	size_t named = 0;

	u->free_segment = 0;
	for (size_t i = u->segment_count; i-- > 1; ) {
		if (marked[i / 64] >> i % 64 & 1) {
			named++;
		} else {
			u->segments[i].next = u->free_segment;
			u->free_segment = (uint32_t)i;
		}
	}
	return named;
}

/* Frees unmarked sites and rebuilds their hash table; returns the number of marked ones. */
static size_t sweep_sites(struct last_accesses *u, const uint64_t *marked)
{
	size_t named = 0;

	memset(u->site_slots, 0, u->site_slot_count * sizeof(*u->site_slots));
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

/* Count at which the next garbage collection pays: marking visits all locations. */
static size_t gc_threshold(const struct last_accesses *u, size_t named)
{
	return 2 * named + u->location_count / 4 + 8 * FIRST_ROOM;
}

void last_access_gc(struct last_accesses *u)
{
	struct marks m;

	m.segments = xcalloc(u->segment_count / 64 + 1, sizeof(*m.segments));
	m.sites = xcalloc(u->site_count / 64 + 1, sizeof(*m.sites));
	mark_all(u, &m);
	u->segment_gc_at = gc_threshold(u, sweep_segments(u, m.segments));
	u->site_gc_at = gc_threshold(u, sweep_sites(u, m.sites));
	free(m.segments);
	free(m.sites);
}

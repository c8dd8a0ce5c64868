#include "analyze/history.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/pages.h"
#include "base/mem.h"

#define REGION_SHIFT 7		/* lines of a region: 4 KiB of memory */
#define SORTED 32u		/* beyond, the order of other threads' cells is as it comes */
#define SPARE_UNITS 1024u	/* more than one access needs */
#define FIRST_ROOM 1024u	/* blocks */

_Static_assert(sizeof(struct history_cell) == 64, "a cell is a cache line");
_Static_assert(sizeof(struct history_block) == 64, "no larger");

static void set_blocks(struct history *h, size_t room)
{
	h->cells = pages_grow(h->cells, h->block_room * HISTORY_LINE * sizeof(*h->cells),
			      room * HISTORY_LINE * sizeof(*h->cells));
	h->blocks = pages_grow(h->blocks, h->block_room * sizeof(*h->blocks),
			       room * sizeof(*h->blocks));
	h->block_room = room;
}

static void set_units(struct history *h, size_t room)
{
	h->units = pages_grow(h->units, h->unit_room * HISTORY_UNIT, room * HISTORY_UNIT);
	h->unit_room = room;
}

static void begin(struct history *h)
{
	h->block_count = 1;
	h->unit_count = 1;
	memset(h->free_units, 0, sizeof(h->free_units));
	h->slot_used = 0;
}

static void mark(void *ctx);

void history_init(struct history *h, struct moments *moments)
{
	*h = (struct history){ .moments = moments, .block_limit = HISTORY_CELLS / HISTORY_LINE,
			       .unit_limit = HISTORY_UNITS,
			       .slot_count = 1024, .what_size = 256, .what_count = 1 };
	set_blocks(h, FIRST_ROOM);
	set_units(h, FIRST_ROOM * HISTORY_LINE);
	h->slots = pages_grow(NULL, 0, h->slot_count * sizeof(*h->slots));
	h->what_table = xcalloc(h->what_size, sizeof(*h->what_table));
	h->whats = xgrow(NULL, 0, &h->what_capacity, sizeof(*h->whats));
	h->whats[0] = (struct history_what){ 0 };
	h->shapes = xgrow(NULL, 0, &h->shape_capacity, sizeof(*h->shapes));
	h->shapes[h->shape_count++] = (struct history_shape){ 0 };
	begin(h);
	moments_marker(moments, mark, h);
}

void history_free(struct history *h)
{
	pages_free(h->cells, h->block_room * HISTORY_LINE * sizeof(*h->cells));
	pages_free(h->blocks, h->block_room * sizeof(*h->blocks));
	pages_free(h->units, h->unit_room * HISTORY_UNIT);
	map_free(&h->regions);
	pages_free(h->slots, h->slot_count * sizeof(*h->slots));
	free(h->whats);
	free(h->what_table);
	free(h->shapes);
	map_free(&h->shape_at);
	free(h->others);
	*h = (struct history){ 0 };
}

static void mark(void *ctx)
{
	const struct history *h = ctx;

	for (size_t n = HISTORY_LINE; n < h->block_count * HISTORY_LINE; n++) {
		const struct history_cell *c = &h->cells[n];

		if (!c->bytes)
			continue;
		moments_mark(h->moments, &c->last);
		if (c->older)
			moments_mark(h->moments, history_older(h, c));
		for (unsigned i = 0; i < c->rep_count; i++)
			moments_mark(h->moments, history_rep_first(h, c, i));
		for (unsigned i = 0; i < c->pair_count; i++) {
			moments_mark(h->moments, &history_pair(h, c, i)->p);
			moments_mark(h->moments, &history_pair(h, c, i)->i);
		}
	}
}

/* Addresses have 48 bits, threads 20. */
static inline uint64_t key_of(uint64_t line, uint32_t thread)
{
	return line << 21 | (uint64_t)thread << 1 | 1;
}

/*
 * Four lines side by side have slots side by side. Threads and lines both go by even steps:
 * one multiplication leaves crowds.
 */
static inline size_t slot_start(const struct history *h, uint64_t key)
{
	uint64_t hash = (key & ~(3ull << 21)) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return ((hash >> 30 & ~3ull) | (key >> 21 & 3)) & (h->slot_count - 1);
}

static inline struct history_slot *slot_of(const struct history *h, uint64_t key)
{
	size_t i = slot_start(h, key);

	while (h->slots[i].key && h->slots[i].key != key)
		i = (i + 1) & (h->slot_count - 1);
	return &h->slots[i];
}

static struct history_slot *slot_add(struct history *h, uint64_t key, uint32_t block, uint32_t ring)
{
	struct history_slot *old = h->slots, *s;
	size_t count = h->slot_count;

	if (++h->slot_used * 2 > count) {
		h->slot_count *= 2;
		h->slots = pages_grow(NULL, 0, h->slot_count * sizeof(*h->slots));
		for (size_t i = 0; i < count; i++)
			if (old[i].key)
				*slot_of(h, old[i].key) = old[i];
		pages_free(old, count * sizeof(*old));
	}
	s = slot_of(h, key);
	*s = (struct history_slot){ key, block, ring };
	return s;
}

/* There is no room: what was known is lost. */
static void forget_all(struct history *h)
{
	for (size_t n = HISTORY_LINE; n < h->block_count * HISTORY_LINE; n++)
		h->dropped += h->cells[n].bytes != 0;
	memset(h->slots, 0, h->slot_count * sizeof(*h->slots));
	map_free(&h->regions);
	begin(h);
}

/* One more block of the line. `ring` 0: its first. */
static uint32_t add_block(struct history *h, uint64_t line, uint32_t thread, uint32_t ring)
{
	uint32_t n = (uint32_t)h->block_count++;
	struct history_block *b = &h->blocks[n];

	memset(&h->cells[n * HISTORY_LINE], 0, HISTORY_LINE * sizeof(*h->cells));
	*b = (struct history_block){ .line = line, .thread = thread, .next = n, .ring = n };
	if (ring) {
		b->ring = ring;
		b->next = h->blocks[ring].next;
		h->blocks[ring].next = n;
		if (h->blocks[ring].crowd < HISTORY_CROWD && ++h->blocks[ring].crowd == HISTORY_CROWD)
			history_kinds_begin(h, ring);
	}
	return n;
}

static struct history_slot *add_line(struct history *h, uint64_t line, uint32_t thread)
{
	struct history_slot *any = slot_of(h, key_of(line, 0));
	uint32_t ring = any->key ? any->ring : 0, n = add_block(h, line, thread, ring);

	if (!ring) {
		*map_put(&h->regions, line >> REGION_SHIFT, NULL) = 1;
		ring = n;
		slot_add(h, key_of(line, 0), n, n);
	}
	return slot_add(h, key_of(line, thread), n, ring);
}

/* Two blocks at most and some units are taken by an access to a granule. */
static void more_room(struct history *h)
{
	bool blocks = h->block_count + 2 > h->block_room;

	if (blocks && h->block_room < h->block_limit)
		set_blocks(h, 2 * h->block_room);
	else if (!blocks && h->unit_room < h->unit_limit)
		set_units(h, 2 * h->unit_room);
	else
		forget_all(h);
}

static inline void make_room(struct history *h)
{
	while (__builtin_expect(h->block_count + 2 > h->block_room ||
				h->unit_count + SPARE_UNITS > h->unit_room, 0))
		more_room(h);
}

/* The thread begins to use bytes of the granule. If several had it, their cells know. */
static void begin_cell(struct history *h, struct history_cell *c, uint8_t bytes)
{
	uint32_t n = (uint32_t)(c - h->cells), g = n % HISTORY_LINE, block = n / HISTORY_LINE;
	struct history_block *ring = &h->blocks[h->blocks[block].ring];
	struct history_cell *o;

	c->bytes = bytes;
	c->shared = ring->shared >> g & 1;
	if (c->shared || !(ring->used >> g & 1)) {
		ring->used |= 1u << g;
		return;
	}
	for (uint32_t b = h->blocks[block].next; b != block; b = h->blocks[b].next) {
		o = &h->cells[b * HISTORY_LINE + g];
		if (!o->bytes || h->blocks[b].thread == h->blocks[block].thread)
			continue;
		o->shared = c->shared = 1;
		ring->shared |= 1u << g;
	}
}

void history_wrote(struct history *h, struct history_cell *c)
{
	uint32_t n = (uint32_t)(c - h->cells), thread = h->blocks[n / HISTORY_LINE].thread;
	uint32_t *writer = &h->blocks[h->blocks[n / HISTORY_LINE].ring].writer[n % HISTORY_LINE];

	*writer = *writer && *writer != thread ? HISTORY_MANY : thread;
	c->wrote = 1;
}

bool history_written(const struct history *h, const struct history_cell *cell)
{
	uint32_t n = (uint32_t)(cell - h->cells);
	const struct history_block *b = &h->blocks[n / HISTORY_LINE];
	uint32_t writer = h->blocks[b->ring].writer[n % HISTORY_LINE];

	return writer && writer != b->thread;
}

/* Not the first cell of the thread for this granule, or one of several. */
static void place_among(struct history *h, struct history_cell *first, uint8_t bytes,
			struct history_place *out)
{
	struct history_cell *c = first, *exact = NULL, *end = first;
	uint32_t block = (uint32_t)(first - h->cells) / HISTORY_LINE, n;
	bool shared = false;

	out->recent = NULL;
	for (;; c = &h->cells[c->next]) {
		if (c->bytes == bytes)
			exact = c;
		if ((c->bytes & bytes) && (!out->recent || c->last.index > out->recent->last.index))
			out->recent = c;
		shared |= c->shared;
		end = c;
		if (!c->next)
			break;
	}
	if (!exact && !first->bytes) {
		exact = first;
		begin_cell(h, exact, bytes);
	} else if (!exact) {
		n = add_block(h, h->blocks[block].line, h->blocks[block].thread,
			      h->blocks[block].ring);
		n = n * HISTORY_LINE + (uint32_t)(first - h->cells) % HISTORY_LINE;
		end->next = n;
		exact = &h->cells[n];
		begin_cell(h, exact, bytes);
	}
	out->cell = exact;
	out->quiet = !(shared | exact->shared);
}

void history_place(struct history *h, uint64_t granule, uint32_t thread, uint8_t bytes,
		   struct history_place *out)
{
	uint64_t line = granule / HISTORY_LINE;
	struct history_cell *c;
	struct history_slot *s;

	make_room(h);
	s = slot_of(h, key_of(line, thread));
	if (__builtin_expect(!s->key, 0))
		s = add_line(h, line, thread);
	c = &h->cells[s->block * HISTORY_LINE + granule % HISTORY_LINE];
	if (__builtin_expect(c->bytes == bytes && !c->next, 1)) {
		out->cell = out->recent = c;
		out->quiet = true;
		if (!c->shared)
			return;
	} else {
		place_among(h, c, bytes, out);
		if (!out->cell->shared)
			return;
	}
	out->toucher = &h->blocks[s->ring].toucher[granule % HISTORY_LINE];
	out->quiet &= *out->toucher == thread;
	*out->toucher = thread;
}

/* What the cell has. */
static inline void prefetch_rest(const struct history *h, const struct history_cell *c)
{
	for (unsigned i = 0; c->rep_count > 1 && i < c->rep_count; i += 8)
		__builtin_prefetch(h->units + (size_t)c->reps * HISTORY_UNIT + i * 8);
	for (unsigned i = 0; i < c->pair_count; i += 8)
		__builtin_prefetch(h->units + (size_t)c->pairs * HISTORY_UNIT + i * 8);
}

void history_prefetch(struct history *h, uint64_t granule, uint32_t thread)
{
	uint32_t n = h->ahead_count++, size = ARRAY_SIZE(h->ahead);
	struct history_ahead *a = &h->ahead[n % size];
	const struct history_slot *s;

	a->key = key_of(granule / HISTORY_LINE, thread);
	a->slot = (uint32_t)slot_start(h, a->key);
	a->granule = granule % HISTORY_LINE;
	__builtin_prefetch(&h->slots[a->slot]);

	a = &h->ahead[(n - HISTORY_AHEAD / 3) % size];
	s = &h->slots[a->slot];
	a->granule = s->key == a->key ? s->block * HISTORY_LINE + a->granule : 0;
	__builtin_prefetch(&h->cells[a->granule], 1);

	a = &h->ahead[(n - HISTORY_AHEAD / 3 * 2) % size];
	if (a->granule)
		prefetch_rest(h, &h->cells[a->granule]);
}

uint32_t history_thread(const struct history *h, const struct history_cell *cell)
{
	return h->blocks[(cell - h->cells) / HISTORY_LINE].thread;
}

/* `a` was used after `b`. */
static bool is_later(const struct history *h, const struct history_cell *a,
		     const struct history_cell *b)
{
	uint32_t s, t;

	if (a->last.time != b->last.time)
		return a->last.time > b->last.time;
	s = history_thread(h, a);
	t = history_thread(h, b);
	return s != t ? s > t : a->last.index > b->last.index;
}

size_t history_others(struct history *h, const struct history_cell *cell, uint8_t bytes,
		      const struct history_cell *const **others)
{
	uint32_t n = (uint32_t)(cell - h->cells), block = n / HISTORY_LINE, g = n % HISTORY_LINE;
	uint32_t thread = h->blocks[block].thread;
	const struct history_cell *c;
	size_t count = 0, i;

	for (uint32_t b = h->blocks[block].next; b != block; b = h->blocks[b].next) {
		c = &h->cells[b * HISTORY_LINE + g];
		if (h->blocks[b].thread == thread || !(c->bytes & bytes))
			continue;
		h->others = xgrow(h->others, count, &h->other_capacity, sizeof(*h->others));
		h->others[count++] = c;
	}
	for (size_t k = 1; count <= SORTED && k < count; k++) {
		c = h->others[k];
		for (i = k; i > 0 && is_later(h, c, h->others[i - 1]); i--)
			h->others[i] = h->others[i - 1];
		h->others[i] = c;
	}
	*others = h->others;
	return count;
}

size_t history_inside(struct history *h, const struct history_cell *recent, uint8_t bytes,
		      const struct history_cell *const **inside)
{
	size_t count = history_others(h, recent, bytes, inside), kept = 0;

	for (size_t i = 0; i < count && kept < HISTORY_INSIDE; i++)
		if (is_later(h, h->others[i], recent))
			h->others[kept++] = h->others[i];
	return kept;
}

/* A cell stays in its block, empty. */
static void forget_line(struct history *h, uint64_t line, uint64_t first, uint64_t end)
{
	const struct history_slot *s = slot_of(h, key_of(line, 0));
	uint64_t granule = line * HISTORY_LINE;
	struct history_block *ring;
	uint32_t b = s->block;

	if (!s->key)
		return;
	ring = &h->blocks[s->ring];
	for (uint32_t g = 0; g < HISTORY_LINE; g++) {
		if (granule + g < first || granule + g >= end)
			continue;
		ring->used &= ~(1u << g);
		ring->shared &= ~(1u << g);
		ring->writer[g] = 0;
		history_kinds_forget(h, ring, g);
	}
	do {
		for (uint32_t g = 0; g < HISTORY_LINE; g++) {
			struct history_cell *c = &h->cells[b * HISTORY_LINE + g];
			uint32_t next = c->next;

			if (!c->bytes || granule + g < first || granule + g >= end)
				continue;
			history_empty(h, c);
			*c = (struct history_cell){ .next = next };
		}
		b = h->blocks[b].next;
	} while (b != s->block);
}

static void forget_region(struct history *h, uint64_t region, uint64_t first, uint64_t end)
{
	for (uint64_t line = region << REGION_SHIFT; line < (region + 1) << REGION_SHIFT; line++)
		if ((line + 1) * HISTORY_LINE > first && line * HISTORY_LINE < end)
			forget_line(h, line, first, end);
}

void history_forget(struct history *h, uint64_t addr, uint64_t size)
{
	uint64_t last = size > UINT64_MAX - addr ? UINT64_MAX : addr + size - 1;
	uint64_t first = addr / GRANULE_BYTES, end = last / GRANULE_BYTES + 1;
	uint64_t from = first / HISTORY_LINE >> REGION_SHIFT;
	uint64_t to = (end - 1) / HISTORY_LINE >> REGION_SHIFT;

	if (!size)
		return;
	/* More regions than there are at all: look at those. */
	if (to - from >= h->regions.capacity) {
		for (size_t i = 0; i < h->regions.capacity; i++)
			if (h->regions.entries[i].key)
				forget_region(h, h->regions.entries[i].key, first, end);
		from = to = 0;	/* which lives apart */
	}
	for (uint64_t region = from; region <= to; region++)
		if (map_find(&h->regions, region))
			forget_region(h, region, first, end);
}

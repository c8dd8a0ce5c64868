/*
 * Blocks and cells of the history: making and finding them, their memory, dropping history.
 * history_slots.c has the hash table of blocks, history_cell.c what a cell keeps in units.
 */
#include "analyze/atomicity/history_slots.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/atomicity/history_inline.h"
#include "base/mem.h"
#include "base/page_array.h"

#define REGION_SHIFT 7		/* lines of a region: 4 KiB of memory */
#define SORTED 32u		/* other threads' cells are sorted by time up to this number */
#define MARGIN_UNITS 1024u	/* more than an access to one granule takes */
#define ACCESS_BLOCKS 2u	/* most blocks that an access to one granule takes */
#define FIRST_ROOM 1024u	/* blocks */
#define MARK_AHEAD 4u		/* prefetch distance in blocks */

_Static_assert(sizeof(struct history_cell) == 64, "a cell is a cache line");
_Static_assert(sizeof(struct history_block) == 32, "no larger");
_Static_assert(HISTORY_UNITS <= 1u << 24 && HISTORY_CELLS <= 1u << 24,
	       "cells have 24 bits for them");
_Static_assert(sizeof(struct history_share) == 16, "four to a cache line");

static void set_blocks(struct history *h, size_t room)
{
	size_t from = h->block_capacity;

	for (unsigned g = 0; g < HISTORY_LINE; g++) {
		struct history_cell *c = history_cell(h, 0, g);

		pages_open(c, from * sizeof(*c), room * sizeof(*c));
		if (h->granules_used >> g & 1)
			pages_soon(c, from * sizeof(*c), room * sizeof(*c));
		pages_open(history_share(h, 0, g), from * sizeof(*h->shares),
			   room * sizeof(*h->shares));
	}
	h->blocks = pages_grow(h->blocks, from * sizeof(*h->blocks), room * sizeof(*h->blocks));
	pages_soon(h->blocks, from * sizeof(*h->blocks), room * sizeof(*h->blocks));
	h->block_capacity = room;
	h->block_threshold = room - ACCESS_BLOCKS;
}

static void set_units(struct history *h, size_t room)
{
	h->units = pages_grow(h->units, h->unit_capacity * HISTORY_UNIT, room * HISTORY_UNIT);
	pages_soon(h->units, h->unit_capacity * HISTORY_UNIT, room * HISTORY_UNIT);
	h->unit_capacity = room;
	h->unit_threshold = room - MARGIN_UNITS;
}

static void reset(struct history *h)
{
	h->block_count = 1;
	h->share_count = 1;
	h->unit_count = 1;
	memset(h->free_units, 0, sizeof(h->free_units));
	map_free(&h->extent_at);
	h->extent_count = 1;
	h->slot_used = 0;
	h->current = (struct history_current_line){ 0 };
	memset(h->prefetched, 0, sizeof(h->prefetched));
}

static void mark(void *ctx);

void history_init(struct history *h, struct contexts *contexts)
{
	*h = (struct history){ .contexts = contexts,
			       .block_limit = HISTORY_BLOCKS,
			       .unit_limit = HISTORY_UNITS,
			       .slot_count = 1024,
			       .signature_count = 1 };
	h->cells = pages_reserve(HISTORY_CELLS * sizeof(*h->cells));
	h->shares = pages_reserve(HISTORY_CELLS * sizeof(*h->shares));
	set_blocks(h, FIRST_ROOM);
	set_units(h, FIRST_ROOM * HISTORY_LINE);
	h->slots = pages_grow(NULL, 0, h->slot_count * sizeof(*h->slots));
	h->signatures = xgrow(NULL, 0, &h->signature_capacity, sizeof(*h->signatures));
	h->signatures[0] = (struct history_signature){ 0 };
	h->nesting = xgrow(NULL, 0, &h->nesting_capacity, sizeof(*h->nesting));
	h->nesting[0] = (struct history_nesting){ 0 };
	h->extents = xgrow(NULL, 0, &h->extent_capacity, sizeof(*h->extents));
	h->extents[0] = (struct history_extent){ 0 };
	h->shapes = xgrow(NULL, 0, &h->shape_capacity, sizeof(*h->shapes));
	h->pair_nesting = xgrow(NULL, 0, &h->pair_nesting_capacity, sizeof(*h->pair_nesting));
	h->pair_nesting[0] = (struct history_pair_nesting){ 0 };
	h->shapes[h->shape_count++] = (struct history_shape){ 0 };
	reset(h);
	contexts_set_marker(contexts, mark, h);
}

void history_free(struct history *h)
{
	pages_free(h->cells, HISTORY_CELLS * sizeof(*h->cells));
	pages_free(h->shares, HISTORY_CELLS * sizeof(*h->shares));
	pages_free(h->blocks, h->block_capacity * sizeof(*h->blocks));
	pages_free(h->units, h->unit_capacity * HISTORY_UNIT);
	map_free(&h->regions);
	pages_free(h->slots, h->slot_count * sizeof(*h->slots));
	free(h->signatures);
	free(h->nesting);
	free(h->signature_table.at);
	free(h->first_of_lockset);
	free(h->shapes);
	free(h->pair_nesting);
	free(h->shape_table.at);
	map_free(&h->inner_class_at);
	free(h->extents);
	map_free(&h->extent_at);
	free(h->others);
	*h = (struct history){ 0 };
}

/*
 * Returns the cell if it is in use, else NULL. Reads no memory of a granule that no thread
 * accessed.
 */
static const struct history_cell *used_cell(const struct history *h, uint32_t block, unsigned g)
{
	const struct history_cell *c = history_cell(h, block, g);

	return h->blocks[h->blocks[block].leader].used >> g & 1 && c->bytes ? c : NULL;
}

static void mark(void *ctx)
{
	const struct history *h = ctx;
	const struct history_cell *c;

	for (uint32_t b = 1; b < h->block_count; b++)
		for (unsigned g = 0; g < HISTORY_LINE; g++) {
			if (b + MARK_AHEAD < h->block_count &&
			    (c = used_cell(h, b + MARK_AHEAD, g)))
				history_mark_prefetch(h, c);
			if ((c = used_cell(h, b, g)))
				history_mark_cell(h, c);
		}
}

/* Drops all history: the limits are reached. */
static void forget_all(struct history *h)
{
	for (uint32_t b = 1; b < h->block_count; b++)
		for (unsigned g = 0; g < HISTORY_LINE; g++)
			h->dropped += used_cell(h, b, g) != NULL;
	memset(h->slots, 0, h->slot_count * sizeof(*h->slots));
	map_free(&h->regions);
	h->region = 0;
	reset(h);
}

/* Adds a block for a thread of the line. `leader` 0: it is the line's first block. */
static uint32_t add_block(struct history *h, uint64_t line, uint32_t thread, uint32_t leader)
{
	uint32_t n = (uint32_t)h->block_count++;
	struct history_block *b = &h->blocks[n];

	for (unsigned g = 0; g < HISTORY_LINE && n < h->blocks_ever; g++)
		if (h->granules_used >> g & 1)
			*history_cell(h, n, g) = (struct history_cell){ 0 };
	if (n >= h->blocks_ever)
		h->blocks_ever = h->block_count;
	*b = (struct history_block){ .line = line, .thread = thread, .next = n, .leader = n };
	if (leader) {
		b->leader = leader;
		b->share = h->blocks[leader].share;
		b->next = h->blocks[leader].next;
		h->blocks[leader].next = n;
		h->blocks[leader].other_blocks +=
			h->blocks[leader].other_blocks < HISTORY_MANY_BLOCKS;
	}
	return n;
}

/* Makes the shared state of a line: its second thread comes. */
static void begin_share(struct history *h, uint32_t leader)
{
	uint32_t n = (uint32_t)h->share_count++, thread = h->blocks[leader].thread, b = leader;

	for (unsigned g = 0; g < HISTORY_LINE && n < h->shares_ever; g++)
		if (h->granules_used >> g & 1)
			*history_share(h, n, g) = (struct history_share){ 0 };
	if (n >= h->shares_ever)
		h->shares_ever = h->share_count;
	do {
		for (unsigned g = 0; g < HISTORY_LINE; g++)
			if (h->blocks[leader].used >> g & 1 && history_cell(h, b, g)->wrote)
				history_share(h, n, g)->writer = thread;
		h->blocks[b].share = n;
		b = h->blocks[b].next;
	} while (b != leader);
}

/*
 * Adds the thread's first block of a line. `leader` is the line's first block, 0: it has none; `s`
 * is a free slot for the new block.
 */
static uint32_t add_line(struct history *h, uint64_t key, uint32_t leader, uint64_t *s)
{
	uint64_t line = line_of(key), start = line_start(key);
	uint32_t n;

	if (!leader) {
		n = add_block(h, line, thread_of(key), 0);
		if (h->region != (line >> REGION_SHIFT) + 1) {
			*map_put(&h->regions, line >> REGION_SHIFT, NULL) = 1;
			h->region = (line >> REGION_SHIFT) + 1;
		}
	} else {
		if (!h->blocks[leader].share)
			begin_share(h, leader);
		n = add_block(h, line, thread_of(key), leader);
		start += other_step(key);
	}
	history_slot_add(h, s, start, n);
	return n;
}

/*
 * Returns the thread's block of the line; makes it if there is none. Tries the cache that
 * history_prefetch() fills first.
 */
static inline uint32_t block_find(struct history *h, uint64_t key)
{
	const struct history_prefetched *prefetched = prefetched_at(h, key);
	const struct history_block *b = &h->blocks[prefetched->block];
	uint64_t *first, *s;
	uint32_t leader;

	if (prefetched->block && prefetched->key == key && b->line == line_of(key) &&
	    b->thread == thread_of(key))
		return prefetched->block;
	s = first = slot_of_line(h, key);
	leader = slot_block(*first);
	if (leader && h->blocks[leader].thread == thread_of(key))
		return leader;
	if (leader)
		s = slot_of_other(h, key);
	return *s ? slot_block(*s) : add_line(h, key, leader, s);
}

void history_make_room(struct history *h)
{
	while (!history_has_room(h)) {
		bool blocks = h->block_count > h->block_threshold;

		if (h->extent_count > HISTORY_EXTENTS)
			forget_all(h);
		else if (blocks && h->block_capacity < h->block_limit)
			set_blocks(h, 2 * h->block_capacity);
		else if (!blocks && h->unit_capacity < h->unit_limit)
			set_units(h, 2 * h->unit_capacity);
		else
			forget_all(h);
	}
}

void history_enter_line(struct history *h, uint64_t line, uint32_t thread, unsigned g)
{
	uint64_t key = key_of(line, thread);
	size_t count = h->block_count;
	uint32_t block = block_find(h, key);

	/*
	 * The cell of a new block may be on an untouched page: writing first takes one page fault,
	 * reading first would take two.
	 */
	if (block >= count)
		history_cell(h, block, g)->bytes = 0;
	h->current = (struct history_current_line){ key, block, h->blocks[block].share };
}

/*
 * Takes the cell into use for these bytes. Cells of other threads in the granule learn that they
 * share it.
 */
static void begin_cell(struct history *h, struct history_cell *c, uint32_t epoch, uint8_t bytes)
{
	uint32_t block = history_block_of(h, c), g = history_granule_of(h, c);
	struct history_block *leader = &h->blocks[h->blocks[block].leader];
	struct history_share *share;
	struct history_cell *o;
	bool ordered = true;

	c->bytes = bytes;
	c->shared = leader->shared >> g & 1;
	if (c->shared || !(leader->used >> g & 1)) {
		leader->used |= 1u << g;
		return;
	}
	if (!leader->share)
		return;
	for (uint32_t b = h->blocks[block].next; b != block; b = h->blocks[b].next) {
		o = history_cell(h, b, g);
		if (!o->bytes || h->blocks[b].thread == h->blocks[block].thread)
			continue;
		o->shared = c->shared = 1;
		leader->shared |= 1u << g;
		ordered &= contexts_ordered(h->contexts, o->last.epoch, epoch);
	}
	if (!c->shared)
		return;
	share = history_share(h, leader->share, g);
	share->last_thread = h->blocks[block].thread;
	share->ordered_epoch = ordered ? epoch : 0;
}

void history_wrote(struct history *h, struct history_cell *c)
{
	const struct history_block *b = &h->blocks[history_block_of(h, c)];
	uint32_t *writer;

	c->wrote = 1;
	if (!b->share)
		return;
	writer = &history_share(h, b->share, history_granule_of(h, c))->writer;
	*writer = *writer && *writer != b->thread ? HISTORY_MANY : b->thread;
}

/* history_lookup_slow() if the thread has other cells of the granule. */
static void lookup_among(struct history *h, struct history_cell *first, uint32_t epoch,
			 uint8_t bytes, struct history_lookup *out)
{
	struct history_cell *c = first, *exact = NULL, *end = first;
	uint32_t block = history_block_of(h, first), n;
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
		begin_cell(h, exact, epoch, bytes);
	} else if (!exact) {
		n = add_block(h, h->blocks[block].line, h->blocks[block].thread,
			      h->blocks[block].leader);
		exact = history_cell(h, n, history_granule_of(h, first));
		end->next = (uint32_t)(exact - h->cells) & (HISTORY_CELLS - 1);
		begin_cell(h, exact, epoch, bytes);
	}
	if (exact->single_pair)
		history_expand(h, exact);
	out->cell = exact;
	out->undisturbed = !(shared | exact->shared);
}

void history_lookup_slow(struct history *h, struct history_cell *first, uint32_t epoch,
			 uint8_t bytes, struct history_lookup *out)
{
	if (first->bytes || first->next) {
		lookup_among(h, first, epoch, bytes, out);
		return;
	}
	h->granules_used |= 1u << history_granule_of(h, first);
	if (h->current.share) {
		begin_cell(h, first, epoch, bytes);
	} else { /* no other thread accessed the line */
		first->bytes = bytes;
		h->blocks[h->current.block].used |= 1u << history_granule_of(h, first);
	}
	out->cell = first;
	out->recent = NULL;
	out->undisturbed = !first->shared;
}

uint32_t history_thread(const struct history *h, const struct history_cell *cell)
{
	return h->blocks[history_block_of(h, cell)].thread;
}

/* True if `a` was accessed after `b`. */
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
	uint32_t block = history_block_of(h, cell), g = history_granule_of(h, cell);
	uint32_t thread = h->blocks[block].thread;
	const struct history_cell *c;
	size_t count = 0, i;

	for (uint32_t b = h->blocks[block].next; b != block; b = h->blocks[b].next) {
		c = history_cell(h, b, g);
		if (h->blocks[b].thread == thread || !(c->bytes & bytes))
			continue;
		if (count == h->other_capacity)
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

/* Drops the history of the granules [first, end) of a line. Blocks stay, with empty cells. */
static void forget_line(struct history *h, uint64_t line, uint64_t first, uint64_t end)
{
	uint32_t first_block = slot_block(*slot_of_line(h, key_of(line, 0))), b = first_block;
	uint64_t granule = line * HISTORY_LINE;
	struct history_block *leader = &h->blocks[b];
	unsigned gone = 0;	/* bit set: granules that were in use */

	if (!b)
		return;
	for (uint32_t g = 0; g < HISTORY_LINE; g++) {
		if (granule + g < first || granule + g >= end)
			continue;
		if (leader->share && leader->used >> g & 1) {
			history_share(h, leader->share, g)->writer = 0;
			history_kinds_forget(h, history_share(h, leader->share, g));
		}
		gone |= leader->used & 1u << g;
		leader->used &= ~(1u << g);
		leader->shared &= ~(1u << g);
		leader->write_pairs &= ~(1u << g);
	}
	do {
		for (uint32_t g = 0; g < HISTORY_LINE; g++) {
			struct history_cell *c = history_cell(h, b, g);
			uint32_t next;

			if (!(gone >> g & 1) || !c->bytes)
				continue;
			next = c->next;
			history_free_units(h, c);
			*c = (struct history_cell){ .next = next };
		}
		b = h->blocks[b].next;
	} while (b != first_block);
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
	/* If the range has more regions than the map, goes through the map instead. */
	if (to - from >= h->regions.capacity) {
		for (size_t i = 0; i < h->regions.capacity; i++)
			if (h->regions.entries[i].key)
				forget_region(h, h->regions.entries[i].key, first, end);
		from = to = 0;	/* the map keeps key 0 outside its entries */
	}
	for (uint64_t region = from; region <= to; region++)
		if (map_find(&h->regions, region))
			forget_region(h, region, first, end);
}

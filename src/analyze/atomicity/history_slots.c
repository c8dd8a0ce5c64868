/* The hash table of blocks, and prefetching: table, block and cell of an access to come. */
#include "analyze/atomicity/history_slots.h"

#include "analyze/atomicity/history_inline.h"
#include "base/mem.h"
#include "base/page_array.h"

static uint64_t *free_slot(const struct history *h, uint64_t start)
{
	while (h->slots[start & (h->slot_count - 1)])
		start++;
	return &h->slots[start & (h->slot_count - 1)];
}

/*
 * Doubles the table in place: moving slots costs less than fresh memory. Begins behind a free slot,
 * so that all slots before the present one have moved already: no slot that still has to move lies
 * on the search path of one that has moved.
 */
static void more_slots(struct history *h)
{
	size_t count = h->slot_count, first = 0;
	uint64_t slot;

	h->slots = pages_grow(h->slots, count * sizeof(slot), 2 * count * sizeof(slot));
	pages_soon(h->slots, count * sizeof(slot), 2 * count * sizeof(slot));
	h->slot_count *= 2;
	while (h->slots[first])
		first++;
	for (size_t i = 1; i < count; i++) {
		uint64_t *from = &h->slots[(first + i) & (count - 1)];

		if (!*from)
			continue;
		slot = *from;
		*from = 0;
		*free_slot(h, slot_start(slot)) = slot;
	}
}

void history_slot_add(struct history *h, uint64_t *s, uint64_t start, uint32_t block)
{
	if (++h->slot_used * 8 > h->slot_count * 5) {
		more_slots(h);
		s = free_slot(h, start);
	}
	*s = start << SLOT_BLOCK | block;
}

/*
 * Prefetches the units of the cell. If it has pairs, only what its hints predict, since the access
 * probably repeats earlier ones.
 */
static inline void prefetch_rest(const struct history *h, const struct history_cell *c)
{
	unsigned first = c->pair_count ? c->rep_hint : 0;

	if (c->single_pair)
		return;
	if (c->pair_count)
		__builtin_prefetch(pair_keys(h, c) + c->pair_hint);
	if (c->rep_count <= 1)
		return;
	if (c->older_write_unit)
		__builtin_prefetch(older_write_of(h, c), 1);
	for (unsigned i = first; i < (c->pair_count ? first + 1 : c->rep_count); i += 8)
		__builtin_prefetch(rep_keys(h, c) + i);
}

/*
 * Returns the block of a slot with this hash; 0: none. A guess: the block's line is not compared.
 */
static inline uint32_t likely_block(const struct history *h, uint64_t start)
{
	uint64_t slot, i = start;

	do
		slot = h->slots[i++ & (h->slot_count - 1)];
	while (slot && slot_start(slot) != start);
	return slot_block(slot);
}

/* One prefetch is enough for consecutive accesses to one granule. */
void history_prefetch(struct history *h, uint64_t granule, uint32_t thread)
{
	uint32_t n = h->ahead_count, size = ARRAY_SIZE(h->ahead);
	struct history_ahead *a = &h->ahead[n % size], *before = &h->ahead[(n - 1) % size];
	uint64_t key = key_of(granule / HISTORY_LINE, thread);
	const struct history_block *b;
	uint32_t other;

	if (key == before->key && granule % HISTORY_LINE == before->granule)
		return;
	h->ahead_count++;
	a->key = key;
	a->granule = granule % HISTORY_LINE;
	if (a->key != before->key) {
		a->start = line_start(a->key);
		a->other = a->start + other_step(a->key);
		__builtin_prefetch(&h->slots[a->start & (h->slot_count - 1)]);
		__builtin_prefetch(&h->slots[a->other & (h->slot_count - 1)]);
	}

	a = &h->ahead[(n - HISTORY_AHEAD) % size];
	before = &h->ahead[(n - HISTORY_AHEAD - 1) % size];
	if (a->key == before->key) {
		a->block = before->block;
	} else {
		/*
		 * A thread without a block of the line reads the block of the line's first thread.
		 */
		a->block = likely_block(h, a->start);
		if (a->block) {
			__builtin_prefetch(&h->blocks[a->block], 1);
			other = likely_block(h, a->other);
			a->block = other ? other : a->block;
			__builtin_prefetch(&h->blocks[a->block], 1);
			*prefetched_at(h, a->key) = (struct history_prefetched){ a->key, a->block };
		}
	}
	__builtin_prefetch(history_cell(h, a->block, a->granule), 1);

	a = &h->ahead[(n - 2 * HISTORY_AHEAD) % size];
	if (!a->block)
		return;
	b = &h->blocks[a->block];
	if (b->share)
		__builtin_prefetch(history_share(h, b->share, a->granule), 1);
	if (b->share && b->thread != thread_of(a->key)) {
		__builtin_prefetch(&h->blocks[b->next]);
		__builtin_prefetch(history_cell(h, b->next, a->granule));
	}
	prefetch_rest(h, history_cell(h, a->block, a->granule));
}

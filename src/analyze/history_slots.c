#include "analyze/history_slots.h"

#include "analyze/history_known.h"
#include "analyze/pages.h"
#include "base/mem.h"

/*
 * Where they are: memory that was never used costs more than the moving. From behind a
 * free one on all before the present one are in their places already, so that nothing
 * that is still to move lies between one and its place.
 */
static void more_slots(struct history *h)
{
	size_t count = h->slot_count, first = 0;
	struct history_slot s;

	h->slots = pages_grow(h->slots, count * sizeof(s), 2 * count * sizeof(s));
	h->slot_count *= 2;
	while (h->slots[first].key)
		first++;
	for (size_t i = 1; i < count; i++) {
		struct history_slot *from = &h->slots[(first + i) & (count - 1)];

		if (!from->key)
			continue;
		s = *from;
		from->key = 0;
		*slot_place(h, s.key) = s;
	}
}

struct history_slot *history_slot_add(struct history *h, struct history_slot *s, uint64_t key,
				      uint32_t block, uint32_t share)
{
	if (++h->slot_used * 2 > h->slot_count) {
		more_slots(h);
		s = slot_place(h, key);
	}
	*s = (struct history_slot){ key, block, share };
	return s;
}

/* What the cell has. Where there are pairs, the access is likely to be what it was. */
static inline void prefetch_rest(const struct history *h, const struct history_cell *c)
{
	unsigned first = c->pair_count ? c->rep_hint : 0;

	if (c->young)
		return;
	if (c->pair_count)
		__builtin_prefetch(pair_keys(h, c) + c->pair_hint);
	if (c->rep_count <= 1)
		return;
	if (c->roomy)
		__builtin_prefetch(older_of(h, c), 1);
	for (unsigned i = first; i < (c->pair_count ? first + 1 : c->rep_count); i += 8)
		__builtin_prefetch(rep_keys(h, c) + i);
}

/* Most accesses go where the one before them goes. */
void history_prefetch(struct history *h, uint64_t granule, uint32_t thread)
{
	uint32_t n = h->ahead_count++, size = ARRAY_SIZE(h->ahead);
	struct history_ahead *a = &h->ahead[n % size], *before = &h->ahead[(n - 1) % size];
	const struct history_slot *s, *first;
	uint64_t start;

	a->key = key_of(granule / HISTORY_LINE, thread);
	a->granule = granule % HISTORY_LINE;
	if (a->key != before->key) {
		start = line_start(a->key);
		a->slot = (uint32_t)(start & (h->slot_count - 1));
		a->other = (uint32_t)((start + other_step(a->key)) & (h->slot_count - 1));
		__builtin_prefetch(&h->slots[a->slot]);
		__builtin_prefetch(&h->slots[a->other]);
	}

	a = &h->ahead[(n - HISTORY_AHEAD) % size];
	before = &h->ahead[(n - HISTORY_AHEAD - 1) % size];
	if (a->key == before->key) {
		a->block = before->block;
	} else {
		first = s = &h->slots[a->slot];
		if (first->key != a->key)
			s = &h->slots[a->other];
		/* Who comes for the first time meets who was there. */
		if ((s->key | OTHER) != (a->key | OTHER)) {
			s = first;
			if (!((s->key ^ a->key) & ~THREADS))
				__builtin_prefetch(&h->blocks[s->block], 1);
		}
		a->block = (s->key ^ a->key) & ~(THREADS | OTHER) ? 0 : s->block;
		if (a->block && s->share)
			__builtin_prefetch(history_share(h, s->share), 1);
	}
	__builtin_prefetch(history_cell(h, a->block, a->granule), 1);

	a = &h->ahead[(n - 2 * HISTORY_AHEAD) % size];
	if (a->block)
		prefetch_rest(h, history_cell(h, a->block, a->granule));
}

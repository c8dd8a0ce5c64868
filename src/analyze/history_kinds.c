/*
 * Which kinds of accesses and pairs there are at a granule, whoever made them. Where many
 * threads do the same to a place, this answers for all of them at once whether something
 * new there can meet anything.
 *
 * A line has it once HISTORY_CROWD blocks are its own; what does not fit makes it unknown.
 */
#include "analyze/history.h"

#include "base/mem.h"

_Static_assert(sizeof(struct history_kinds) == HISTORY_UNIT, "a unit for each granule");

#define UNKNOWN UINT8_MAX

static struct history_kinds *kinds_of(const struct history *h, const struct history_block *ring)
{
	return (struct history_kinds *)(h->units + (size_t)ring->kinds * HISTORY_UNIT);
}

static void add(uint32_t *list, uint8_t *count, unsigned room, uint32_t number)
{
	if (*count == UNKNOWN)
		return;
	for (unsigned i = 0; i < *count; i++)
		if (list[i] == number)
			return;
	if (*count == room)
		*count = UNKNOWN;
	else
		list[(*count)++] = number;
}

static void add_rep(struct history_kinds *k, uint32_t what)
{
	add(k->rep, &k->reps, ARRAY_SIZE(k->rep), what);
}

static void add_pair(struct history_kinds *k, uint32_t shape)
{
	add(k->pair, &k->pairs, ARRAY_SIZE(k->pair), shape);
}

void history_kinds_rep(struct history *h, const struct history_cell *c, uint32_t what)
{
	uint32_t n = (uint32_t)(c - h->cells);
	const struct history_block *ring = &h->blocks[h->blocks[n / HISTORY_LINE].ring];

	if (ring->kinds)
		add_rep(&kinds_of(h, ring)[n % HISTORY_LINE], what);
}

void history_kinds_pair(struct history *h, const struct history_cell *c, uint32_t shape)
{
	uint32_t n = (uint32_t)(c - h->cells);
	const struct history_block *ring = &h->blocks[h->blocks[n / HISTORY_LINE].ring];

	if (ring->kinds)
		add_pair(&kinds_of(h, ring)[n % HISTORY_LINE], shape);
}

void history_kinds_begin(struct history *h, uint32_t ring)
{
	struct history_kinds *k;
	uint32_t b = ring, epoch;

	h->blocks[ring].kinds = (uint32_t)h->unit_count;
	h->unit_count += HISTORY_LINE;
	k = kinds_of(h, &h->blocks[ring]);
	for (unsigned g = 0; g < HISTORY_LINE; g++)
		k[g].reps = k[g].pairs = 0;
	do {
		for (unsigned g = 0; g < HISTORY_LINE; g++) {
			const struct history_cell *c = &h->cells[b * HISTORY_LINE + g];

			for (unsigned i = 0; c->bytes && i < c->rep_count; i++)
				add_rep(&k[g], history_rep_what(h, c, i, &epoch));
			for (unsigned i = 0; c->bytes && i < c->pair_count; i++)
				add_pair(&k[g], history_pair(h, c, i)->shape);
		}
		b = h->blocks[b].next;
	} while (b != ring);
}

void history_kinds_forget(struct history *h, const struct history_block *ring, unsigned granule)
{
	if (ring->kinds)
		kinds_of(h, ring)[granule].reps = kinds_of(h, ring)[granule].pairs = 0;
}

const struct history_kinds *history_kinds(const struct history *h, const struct history_cell *c)
{
	uint32_t n = (uint32_t)(c - h->cells);
	const struct history_block *ring = &h->blocks[h->blocks[n / HISTORY_LINE].ring];
	const struct history_kinds *k = &kinds_of(h, ring)[n % HISTORY_LINE];

	return ring->kinds && k->reps != UNKNOWN && k->pairs != UNKNOWN ? k : NULL;
}

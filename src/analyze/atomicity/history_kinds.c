/*
 * The distinct kinds of accesses and pairs at a granule, of all threads together. Where many
 * threads do the same, one comparison with the kinds shows for all threads whether a new access or
 * pair can make a candidate. Kinds are cores of signatures and shapes: acquisition histories, of
 * which there may be many, do not count.
 *
 * A granule gets kinds at the first look-up after its line has HISTORY_MANY_BLOCKS further blocks.
 * Most granules have few kinds. With more than LARGE_ROOM, they are HISTORY_UNKNOWN from then on.
 */
#include "analyze/atomicity/history_inline.h"

#include <string.h>

#define ROOM 5u		/* capacity that fills one unit */
#define MORE_ROOM 24u
#define LARGE_ROOM 250u

_Static_assert(LARGE_ROOM < HISTORY_UNKNOWN, "a byte counts them");

static inline struct history_kinds *kinds_at(const struct history *h, uint32_t unit)
{
	return (struct history_kinds *)(h->units + (size_t)unit * HISTORY_UNIT);
}

static struct history_kinds *make(struct history *h, uint32_t *unit, unsigned room)
{
	size_t size = sizeof(struct history_kinds) + room * 2 * (sizeof(uint32_t) + 1);
	struct history_kinds *k;

	*unit = (uint32_t)h->unit_count;
	h->unit_count += (size + HISTORY_UNIT - 1) / HISTORY_UNIT;
	k = kinds_at(h, *unit);
	*k = (struct history_kinds){ .room = (uint8_t)room };
	return k;
}

/* Copies the kinds into a larger run of units. */
static struct history_kinds *enlarge(struct history *h, uint32_t *unit)
{
	struct history_kinds *from = kinds_at(h, *unit), *to;
	unsigned room = from->room;

	to = make(h, unit, room == ROOM ? MORE_ROOM : LARGE_ROOM);
	to->common_lock = from->common_lock;
	for (unsigned pairs = 0; pairs < 2; pairs++) {
		to->count[pairs] = from->count[pairs];
		memcpy(history_kinds_list(to, pairs), history_kinds_list(from, pairs),
		       room * sizeof(uint32_t));
		memcpy(history_kinds_compared(to, pairs), history_kinds_compared(from, pairs),
		       room);
	}
	return to;
}

static void add(struct history *h, uint32_t *unit, bool pairs, uint32_t core)
{
	struct history_kinds *k = kinds_at(h, *unit);
	const uint32_t *list = history_kinds_list(k, pairs);
	uint8_t *count = &k->count[pairs];

	if (k->count[0] == HISTORY_UNKNOWN)
		return;
	for (unsigned i = 0; i < *count; i++)
		if (list[i] == core)
			return;
	if (*count == LARGE_ROOM) {
		k->count[0] = HISTORY_UNKNOWN;
		return;
	}
	if (*count == k->room) {
		k = enlarge(h, unit);
		count = &k->count[pairs];
	}
	history_kinds_compared(k, pairs)[*count] = 0;
	history_kinds_list(k, pairs)[(*count)++] = core;
}

/* True if `set` has the outermost lock of `common_lock` as its own, not for reading. */
static bool has_common_lock(const struct history *h, uint32_t common_lock, uint32_t set)
{
	const struct locks_ends *ends = locks_ends(h->contexts->locks);

	return set && ends[set].outer == ends[common_lock].outer && !ends[set].outer_shared;
}

/* The first access sets common_lock. */
void history_kinds_access(struct history *h, uint32_t *unit, uint32_t signature)
{
	struct history_kinds *k = kinds_at(h, *unit);
	uint32_t lockset = h->signatures[signature].lockset;

	if (!k->count[0])
		k->common_lock = lockset;
	if (!has_common_lock(h, k->common_lock, lockset))
		k->common_lock = 0;
	add(h, unit, false, h->signatures[signature].core);
}

void history_kinds_pair(struct history *h, uint32_t *unit, uint32_t shape)
{
	const struct history_shape *s = &h->shapes[shape];
	struct history_kinds *k = kinds_at(h, *unit);

	for (unsigned i = 0; i < s->cuts && s->cut[0]; i++)
		if (!has_common_lock(h, k->common_lock, s->cut[i]))
			k->common_lock = 0;
	add(h, unit, true, s->core);
}

/*
 * Makes the kinds of a granule from all its cells. A full cell may have dropped accesses, so then
 * no common lock is certain.
 */
static void make_from_cells(struct history *h, uint32_t *unit, uint32_t block, unsigned g)
{
	bool full = false;
	uint32_t b = block;

	make(h, unit, ROOM);
	do {
		const struct history_cell *c = history_cell(h, b, g);

		for (unsigned i = 0; c->bytes && i < c->rep_count; i++)
			history_kinds_access(h, unit, (uint32_t)history_rep_key(h, c, i));
		full |= c->bytes && c->rep_count == HISTORY_REPS;
		b = h->blocks[b].next;
	} while (b != block);
	do {
		const struct history_cell *c = history_cell(h, b, g);

		for (unsigned i = 0; c->bytes && i < c->pair_count; i++)
			history_kinds_pair(h, unit, history_pair_shape(h, c, i));
		full |= c->bytes && c->pair_count == HISTORY_PAIRS;
		b = h->blocks[b].next;
	} while (b != block);
	if (full)
		kinds_at(h, *unit)->common_lock = 0;
}

void history_kinds_forget(struct history *h, const struct history_share *share)
{
	struct history_kinds *k = kinds_at(h, share->kinds);

	if (share->kinds)
		k->count[0] = k->count[1] = 0;
}

struct history_kinds *history_kinds_make(struct history *h, const struct history_cell *c)
{
	uint32_t block = history_block_of(h, c), g = history_granule_of(h, c);
	uint32_t *unit = &history_share(h, h->current.share, g)->kinds;

	make_from_cells(h, unit, block, g);
	return kinds_at(h, *unit)->count[0] == HISTORY_UNKNOWN ? NULL : kinds_at(h, *unit);
}

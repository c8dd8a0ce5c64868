/*
 * What a cell keeps besides its last access: representatives and pairs, in units of memory. While
 * there is one representative, it is the last access, and no units are used. From the second on,
 * representatives are in a run of adjacent units: the older write if there ever was one, then the
 * keys, then the packed contexts in the same order. Pairs have a run of their own: keys, then
 * pairs. The capacity of a run follows from the number of elements; a full run moves to a larger
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/atomicity/history_inline.h"
#include "base/mem.h"

static const unsigned rep_rooms[] = { 2, 6, 12, HISTORY_REPS };
/* growth is steep: two pairs rarely stay two */
static const unsigned pair_rooms[] = { 1, 3, 8, 16, HISTORY_PAIRS };

/* Size classes of runs: of representatives, of representatives with an older write, of pairs. */
#define REP_ROOMS ARRAY_SIZE(rep_rooms)
#define PAIR_CLASS (2 * REP_ROOMS)

_Static_assert(sizeof(struct access_context) <= HISTORY_UNIT, "an older write takes a unit");

/* The class by number of elements. */
static const uint8_t rep_classes[HISTORY_REPS + 1] = {
	0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
};
static const uint8_t pair_classes[HISTORY_PAIRS + 1] = {
	0, 0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3,
	4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
};

static inline unsigned rep_room(const struct history_cell *c)
{
	return rep_rooms[rep_classes[c->rep_count]];
}

static inline unsigned pair_room(const struct history_cell *c)
{
	return pair_rooms[pair_classes[c->pair_count]];
}

static uint32_t units_of(size_t bytes)
{
	return (uint32_t)((bytes + HISTORY_UNIT - 1) / HISTORY_UNIT);
}

static uint32_t rep_units(unsigned room)
{
	return units_of(room * (sizeof(uint64_t) + sizeof(struct history_packed)));
}

static uint32_t pair_units(unsigned room)
{
	return units_of(room * (sizeof(uint64_t) + sizeof(struct history_pair)));
}

static uint32_t run_alloc(struct history *h, unsigned class, uint32_t units)
{
	uint32_t n = h->free_units[class];

	if (n) {
		h->free_units[class] = *(uint32_t *)unit_at(h, n);
		return n;
	}
	n = (uint32_t)h->unit_count;
	h->unit_count += units;
	return n;
}

static void run_free(struct history *h, unsigned class, uint32_t unit)
{
	*(uint32_t *)unit_at(h, unit) = h->free_units[class];
	h->free_units[class] = unit;
}

static inline struct history_packed *rep_packed(const struct history *h,
						const struct history_cell *c)
{
	return (struct history_packed *)(rep_keys(h, c) + rep_room(c));
}

static inline struct history_pair *pairs(const struct history *h, const struct history_cell *c)
{
	return (struct history_pair *)(pair_keys(h, c) + pair_room(c));
}

static unsigned rep_class(const struct history_cell *c)
{
	return rep_classes[c->rep_count] + (c->older_write_unit ? REP_ROOMS : 0);
}

/* Moves the representatives of `old` to a new run for c->rep_count elements. */
static void move_reps(struct history *h, struct history_cell *c, const struct history_cell *old)
{
	unsigned n = old->rep_count;
	const uint64_t *keys;
	const struct history_packed *packed;

	c->reps = run_alloc(h, rep_class(c), rep_units(rep_room(c)) + c->older_write_unit);
	if (n == 1) {
		rep_keys(h, c)[0] = rep_key(&c->last);
		rep_packed(h, c)[0] = history_pack(h, c, &c->last);
		return;
	}
	keys = rep_keys(h, old);
	packed = rep_packed(h, old);
	for (unsigned i = 0; i < n; i++) { /* memcpy() takes longer to start than to copy so few */
		rep_keys(h, c)[i] = keys[i];
		rep_packed(h, c)[i] = packed[i];
	}
	if (c->older_write)
		*older_write_of(h, c) = *older_write_of(h, old);
	run_free(h, rep_class(old), old->reps);
}

/* Adds a representative, not the first, and returns its number. A full run moves. */
static unsigned add_rep(struct history *h, struct history_cell *c)
{
	unsigned n = c->rep_count;
	struct history_cell old;

	if (n > 1 && n < rep_room(c)) {
		c->rep_count++;
		return n;
	}
	old = *c;
	c->rep_count++;
	move_reps(h, c, &old);
	return n;
}

/* The cell then has at least two representatives, a write and a read, so it has a run. */
void history_set_older_write(struct history *h, struct history_cell *c)
{
	struct history_cell old;

	if (!c->older_write_unit) {
		old = *c;
		c->older_write_unit = 1;
		move_reps(h, c, &old);
	}
	*older_write_of(h, c) = c->last;
	c->older_write = 1;
	c->older_write_noted = is_noted(c);
}

/* Adds a pair and returns its number. A full run moves. */
static unsigned add_pair(struct history *h, struct history_cell *c)
{
	unsigned n = c->pair_count, room = n ? pair_room(c) : 0, class;
	const uint64_t *keys = pair_keys(h, c);
	const struct history_pair *list = (const struct history_pair *)(keys + room);
	uint32_t old = c->pairs;

	c->pair_count++;
	if (n < room)
		return n;
	class = pair_classes[n + 1];
	c->pairs = run_alloc(h, PAIR_CLASS + class, pair_units(pair_rooms[class]));
	for (unsigned i = 0; i < n; i++) {
		pair_keys(h, c)[i] = keys[i];
		pairs(h, c)[i] = list[i];
	}
	if (n)
		run_free(h, PAIR_CLASS + pair_classes[n], old);
	return n;
}

/*
 * True if no representative has this key. Then *epochs is the number of epochs with its signature,
 * and *n the latest of these.
 */
static bool is_fresh(const struct history *h, const struct history_cell *c, uint64_t key,
		     unsigned *epochs, unsigned *n)
{
	const uint64_t *keys = rep_keys(h, c);
	const struct history_packed *packed = rep_packed(h, c);

	if (rep_key(&c->last) == key && is_noted(c))
		return false;
	for (unsigned i = 0; c->rep_count > 1 && i < c->rep_count; i++) {
		if ((uint32_t)keys[i] != (uint32_t)key)
			continue;
		if (keys[i] == key)
			return false;
		if (!*epochs ||
		    history_packed_index(&packed[i]) > history_packed_index(&packed[*n]))
			*n = i;
		++*epochs;
	}
	return true;
}

bool history_note(struct history *h, struct history_cell *c, const struct access_context *now,
		  bool new_signature, bool *fresh)
{
	unsigned epochs = 0, n = 0;
	uint64_t key = rep_key(now);

	*fresh = true;
	if (!c->rep_count) {
		history_note_first(h, c, now);
		c->last = *now;
		return true;
	}
	*fresh = new_signature || is_fresh(h, c, key, &epochs, &n);
	if (!*fresh)
		return true;
	history_kinds_note(h, c, now->tag);
	if (epochs < HISTORY_EPOCHS) {
		if (c->rep_count == HISTORY_REPS) {
			h->dropped++;
			*fresh = false;
			return false;
		}
		n = add_rep(h, c);
	}
	rep_keys(h, c)[n] = key;
	rep_packed(h, c)[n] = history_pack(h, c, now);
	return true;
}

/* Computes the key of a single pair from its shape. */
static uint64_t single_pair_key(const struct history *h, const struct history_cell *c)
{
	const struct history_shape *s = &h->shapes[single_pair_shape(c)];
	struct access_context p = { .tag = s->p, .epoch = c->last.epoch };
	struct access_context i = { .tag = s->i, .epoch = c->last.epoch };
	struct history_probe probe = {
		.p = &p, .i = &i, .cuts = s->cuts, .bytes = s->bytes, .spans_reads = s->spans_reads
	};

	memcpy(probe.cut, s->cut, sizeof(probe.cut));
	return history_probe_key(&probe);
}

void history_expand(struct history *h, struct history_cell *c)
{
	const struct history_cell old = *c;
	struct history_pair pair;

	single_pair_unpack(&old, &pair);
	c->single_pair = c->pair_count = c->pair_hint = c->rep_hint = 0;
	add_pair(h, c);
	pair_keys(h, c)[0] = single_pair_key(h, &old);
	pairs(h, c)[0] = pair;
	if (c->rep_count == 1)
		return;
	/* reserve the older write: a read mostly follows a write */
	c->older_write_unit = c->last_flags & ACCESS_WRITE ? 1 : 0;
	c->reps = run_alloc(h, rep_class(c), rep_units(rep_room(c)) + c->older_write_unit);
	rep_keys(h, c)[0] = single_pair_rep_key(h, &old, 0);
	rep_keys(h, c)[1] = single_pair_rep_key(h, &old, 1);
	rep_packed(h, c)[0] = pair.p;
	rep_packed(h, c)[1] = pair.i;
}

const struct history_pair *history_note_pair(struct history *h, struct history_cell *c,
					     const struct history_probe *probe, bool *fresh)
{
	unsigned newest = HISTORY_PAIRS, epochs = 0, n;
	uint64_t key = probe->key, *keys = pair_keys(h, c);
	const struct history_pair *list = pairs(h, c);
	struct history_pair *pair;

	*fresh = true;
	for (n = 0; n < c->pair_count; n++) {
		if ((uint32_t)keys[n] != (uint32_t)key)
			continue;
		if (keys[n] == key) {
			*fresh = false;
			break;
		}
		if (newest == HISTORY_PAIRS ||
		    history_packed_index(&list[n].i) > history_packed_index(&list[newest].i))
			newest = n;
		epochs++;
	}
	if (*fresh && epochs >= HISTORY_EPOCHS) {
		n = newest;
	} else if (*fresh && c->pair_count == HISTORY_PAIRS) {
		h->dropped++;
		return NULL;
	} else if (*fresh) {
		n = add_pair(h, c);
	}
	pair_keys(h, c)[n] = key;
	pair = &pairs(h, c)[n];
	pair->p = history_pack(h, c, probe->p);
	pair->i = history_pack(h, c, probe->i);
	if (*fresh) {
		pair->shape = history_shape(h, probe);
		pair->bytes = probe->bytes;
		history_pair_noted(h, c, pair->shape,
				   h->signatures[probe->p->tag].access &
					   h->signatures[probe->i->tag].access);
	}
	return pair;
}

struct access_context history_rep_first(const struct history *h, const struct history_cell *c,
					unsigned n)
{
	uint64_t key;

	if (c->rep_count == 1)
		return c->last;
	if (c->single_pair)
		return single_pair_rep(h, c, n);
	key = rep_keys(h, c)[n];
	return history_unpack(h, c, &rep_packed(h, c)[n], (uint32_t)key, (uint32_t)(key >> 32));
}

void history_mark_cell(const struct history *h, const struct history_cell *c)
{
	const struct history_packed *packed;
	const struct history_pair *list;

	contexts_mark(h->contexts, &c->last);
	if (c->single_pair)		/* all of its contexts have the sync_state of `last` */
		return;
	if (c->older_write)
		contexts_mark(h->contexts, older_write_of(h, c));
	packed = rep_packed(h, c);
	list = pairs(h, c);
	/* A single representative is the last access, which is marked already. */
	for (unsigned i = 0; c->rep_count > 1 && i < c->rep_count; i++)
		contexts_mark_sync_state(h->contexts, packed[i].sync_state);
	for (unsigned i = 0; i < c->pair_count; i++) {
		contexts_mark_sync_state(h->contexts, list[i].p.sync_state);
		contexts_mark_sync_state(h->contexts, list[i].i.sync_state);
	}
}

/* Prefetches the first two units of each run; going through them fetches the rest. */
void history_mark_prefetch(const struct history *h, const struct history_cell *c)
{
	if (c->single_pair)
		return;
	if (c->rep_count > 1) {
		__builtin_prefetch(rep_packed(h, c));
		__builtin_prefetch((const char *)rep_packed(h, c) + HISTORY_UNIT);
	}
	if (c->pair_count) {
		__builtin_prefetch(pairs(h, c));
		__builtin_prefetch(pairs(h, c) + 1);
	}
}

/*
 * Returns the latest context of representative n if the cell still has it: as the last access or as
 * the older write. Else NULL: only the packed context is known.
 */
static inline const struct access_context *rep_latest(const struct history *h,
						      const struct history_cell *c, unsigned n)
{
	uint64_t key = history_rep_key(h, c, n);

	if (is_noted(c) && rep_key(&c->last) == key)
		return &c->last;
	if (c->older_write && c->older_write_noted && rep_key(older_write_of(h, c)) == key)
		return older_write_of(h, c);
	return c->rep_count > 1 ? NULL : &c->last;
}

uint64_t history_rep_time(const struct history *h, const struct history_cell *c, unsigned n)
{
	const struct access_context *m = rep_latest(h, c, n);

	if (m)
		return m->time;
	return c->single_pair ? single_pair_rep(h, c, n).time : rep_packed(h, c)[n].time;
}

struct access_context history_rep(const struct history *h, const struct history_cell *c, unsigned n)
{
	const struct access_context *m = rep_latest(h, c, n);

	return m ? *m : history_rep_first(h, c, n);
}

const struct history_pair *history_pair(const struct history *h, const struct history_cell *c,
					unsigned n, struct history_pair *unpacked)
{
	if (!c->single_pair)
		return &pairs(h, c)[n];
	single_pair_unpack(c, unpacked);
	return unpacked;
}

const struct history_pair *history_pairs(const struct history *h, const struct history_cell *c,
					 const uint64_t **keys)
{
	*keys = pair_keys(h, c);
	return pairs(h, c);
}

uint32_t history_pair_shape(const struct history *h, const struct history_cell *c, unsigned n)
{
	return c->single_pair ? single_pair_shape(c) : pairs(h, c)[n].shape;
}

void history_pair_epochs(const struct history *h, const struct history_cell *c, unsigned n,
			 uint32_t *p, uint32_t *i)
{
	uint64_t key;

	*p = *i = c->last.epoch;
	if (c->single_pair)
		return;
	key = pair_keys(h, c)[n];
	*p = *i = (uint32_t)(key >> 32);
	if (key & TWO_CLOCKS) {
		*p = contexts_epoch(h->contexts, pairs(h, c)[n].p.sync_state);
		*i = contexts_epoch(h->contexts, pairs(h, c)[n].i.sync_state);
	}
}

void history_free_units(struct history *h, struct history_cell *c)
{
	if (c->single_pair)
		return;
	if (c->rep_count > 1)
		run_free(h, rep_class(c), c->reps);
	if (c->pair_count)
		run_free(h, PAIR_CLASS + pair_classes[c->pair_count], c->pairs);
}

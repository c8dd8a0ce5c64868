/*
 * For atomicity.c and history_note.c: what is asked at every access. Most of them find that
 * nothing is new.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_INLINE_H
#define ANALYZE_ATOMICITY_HISTORY_INLINE_H

#include "analyze/atomicity/history_slots.h"
#include "analyze/atomicity/history_young.h"
#include "base/hash.h"

/* For history_place(): to what is not there yet, and to one of several cells. */
void history_make_room(struct history *h);
void history_go(struct history *h, uint64_t line, uint32_t thread, unsigned g);
void history_place_other(struct history *h, struct history_cell *first, uint32_t epoch,
			 uint8_t bytes, struct history_place *out);

/* … for an access to a granule. */
static inline bool history_has_room(const struct history *h)
{
	return h->block_count <= h->block_enough && h->unit_count <= h->unit_enough &&
	       h->extent_count <= HISTORY_EXTENTS;
}

/* Another thread may have been there since this one was. */
static inline void history_arrive(const struct history *h, unsigned g, uint32_t thread,
				  uint32_t epoch, struct history_place *out)
{
	struct history_share *share = history_share(h, h->here.share, g);

	if (share->toucher != thread) {
		share->toucher = thread;
		out->quiet = false;
		if (share->front && !moments_ordered(h->moments, share->front, epoch))
			share->front = 0;
	}
	if (share->front)
		share->front = epoch;
	out->ordered = share->front != 0;
}

/* Makes the cell if there is none. `epoch` is of the access. Good until the next call. */
static inline void history_place(struct history *h, uint64_t granule, uint32_t thread,
				 uint32_t epoch, uint8_t bytes, struct history_place *out)
{
	uint64_t line = granule / HISTORY_LINE;
	unsigned g = granule % HISTORY_LINE;
	struct history_cell *c;

	if (__builtin_expect(!history_has_room(h), 0))
		history_make_room(h);
	/* Mostly where the access before was. */
	if (h->here.key != key_of(line, thread))
		history_go(h, line, thread, g);
	c = history_cell(h, h->here.block, g);
	out->ordered = true;
	if (__builtin_expect(c->bytes == bytes && !c->next && !c->young, 1)) {
		out->cell = out->recent = c;
		out->quiet = true;
	} else {
		history_place_other(h, c, epoch, bytes, out);
	}
	if (out->cell->shared)
		history_arrive(h, g, thread, epoch, out);
}

static inline void *unit_at(const struct history *h, uint32_t unit)
{
	return h->units + (size_t)unit * HISTORY_UNIT;
}

static inline uint64_t *rep_keys(const struct history *h, const struct history_cell *c)
{
	return unit_at(h, c->reps + c->roomy);
}

static inline struct moment *older_of(const struct history *h, const struct history_cell *c)
{
	return unit_at(h, c->reps);
}

static inline uint64_t *pair_keys(const struct history *h, const struct history_cell *c)
{
	return unit_at(h, c->pairs);
}

static inline bool is_noted(const struct history_cell *c)
{
	return c->how & HISTORY_NOTED;
}

/* The clock and the number of the history_what of representative n, as rep_key() has them. */
static inline uint64_t history_rep_key(const struct history *h, const struct history_cell *c,
				       unsigned n)
{
	if (c->rep_count == 1)
		return rep_key(&c->last);
	return c->young ? young_rep_key(h, c, n) : rep_keys(h, c)[n];
}

#define TWO_CLOCKS (1ull << 63)

/* Lower half: what it is; upper half: under which clock, or a hash of the two. */
static inline uint64_t history_like_key(const struct history_like *p)
{
	uint64_t hash = hash_add(hash_add(0, (uint64_t)p->p->tag << 32 | p->i->tag),
				    (uint64_t)p->bytes << 8 | (uint64_t)p->cuts << 1 | p->wide);

	for (unsigned i = 0; i < p->cuts; i++)
		hash = hash_add(hash, p->cut[i]);
	if (p->p->epoch == p->i->epoch)
		return (uint64_t)p->i->epoch << 32 | (uint32_t)hash;
	return TWO_CLOCKS | hash_add(hash_add(0, p->p->epoch), p->i->epoch) << 32 |
	       (uint32_t)hash;
}

/* Code that comes by again does the same as the last time, or makes its pairs in the same order. */
static inline unsigned key_find(const uint64_t *keys, unsigned count, unsigned last, uint64_t key)
{
	unsigned i = 0;

	if (last < count && keys[last] == key)
		return last;
	if (last + 1 < count && keys[last + 1] == key)
		return last + 1;
	while (i < count && keys[i] != key)
		i++;
	return i;
}

/*
 * The cell has a representative of now.tag under this clock. If not, *stranger: it was looked
 * for, and there is none of it under any clock.
 */
static inline bool history_has_key(const struct history *h, struct history_cell *c, uint64_t key,
				   bool *stranger)
{
	unsigned n = c->rep_hint, count = c->rep_count;
	const uint64_t *keys = rep_keys(h, c);

	*stranger = false;
	if (rep_key(&c->last) == key && is_noted(c))
		return true;
	if (count <= 1)
		return false;
	if (n < count && keys[n] == key)
		return true;
	if (n + 1 < count && keys[n + 1] == key) {
		c->rep_hint = (uint8_t)(n + 1);
		return true;
	}
	*stranger = true;
	for (n = 0; n < count; n++) {
		if ((uint32_t)keys[n] != (uint32_t)key)
			continue;
		*stranger = false;
		if (keys[n] == key) {
			c->rep_hint = (uint8_t)n;
			return true;
		}
	}
	return false;
}

static inline bool history_has(const struct history *h, struct history_cell *c,
			       const struct moment *now, bool *stranger)
{
	return history_has_key(h, c, rep_key(now), stranger);
}

/* The cell has a pair like this. */
static inline bool history_has_pair(const struct history *h, struct history_cell *c,
				    const struct history_like *like)
{
	unsigned n = key_find(pair_keys(h, c), c->pair_count, c->pair_hint, like->key);

	if (n == c->pair_count)
		return false;
	c->pair_hint = (uint8_t)n;
	return true;
}

/*
 * The cells that these are asked of are of the present access' line: what is needed is found by
 * its share, which is at hand.
 */

/* What the line's first thread has for all. */
static inline struct history_block *history_ring(const struct history *h)
{
	return &h->blocks[h->blocks[h->here.block].ring];
}

/* Another thread than the cell's wrote to the granule. */
static inline bool history_written(const struct history *h, const struct history_cell *c)
{
	uint32_t writer = 0;

	if (h->here.share)
		writer = history_share(h, h->here.share, history_granule_of(h, c))->writer;
	return writer && (writer == HISTORY_MANY || writer != h->blocks[history_block_of(h, c)].thread);
}

/*
 * Of the cell's granule; NULL: there are not many cells, or too many kinds. Its own are
 * among them. Good until something is noted.
 */
static inline struct history_kinds *history_kinds_here(struct history *h, const struct history_cell *c)
{
	uint32_t place;
	struct history_kinds *k;

	if (!h->here.share)
		return NULL;
	place = history_share(h, h->here.share, history_granule_of(h, c))->kinds;
	if (!place && history_ring(h)->crowd < HISTORY_CROWD)
		return NULL;
	if (!place)
		return history_kinds(h, c);
	k = unit_at(h, place);
	return k->count[0] == HISTORY_UNKNOWN ? NULL : k;
}

/* Where the kinds of the cell's granule are said, if they are known; else NULL. */
static inline uint32_t *history_kinds_place(struct history *h, const struct history_cell *c)
{
	uint32_t *place = c->shared ? &history_share(h, h->here.share, history_granule_of(h, c))->kinds : NULL;

	return place && *place ? place : NULL;
}

static inline void history_kinds_note(struct history *h, const struct history_cell *c, uint32_t what)
{
	uint32_t *place = history_kinds_place(h, c);

	if (place)
		history_kinds_access(h, place, what);
}

/* A pair of two writes, of any thread, may be among those of the cell's granule. */
static inline bool history_twice(const struct history *h, const struct history_cell *c)
{
	return history_ring(h)->twice >> history_granule_of(h, c) & 1;
}

/* The cell has a pair of this shape now, the accesses have these bits in common. */
static inline void history_paired(struct history *h, const struct history_cell *c, uint32_t shape,
				  unsigned both)
{
	uint32_t *place = history_kinds_place(h, c);

	if (both & ACCESS_WRITE)
		history_ring(h)->twice |= 1u << history_granule_of(h, c);
	if (place)
		history_kinds_pair(h, place, shape);
}

/* The first access to the cell is its representative, as soon as it is settled. */
static inline void history_note_first(struct history *h, struct history_cell *c,
				      const struct moment *now)
{
	history_kinds_note(h, c, now->tag);
	c->rep_count = 1;
}

/* For history_settle(): what was last is the older write now. */
void history_set_older(struct history *h, struct history_cell *c);

/* The access is over: but for `last`, which the caller has to set, it is the cell's last one. */
static inline void history_settle_but(struct history *h, struct history_cell *c,
				      const struct history_what *what, bool noted)
{
	if (what->access & ACCESS_WRITE) {
		c->older = 0;
		if (!c->wrote) {
			if (h->here.share)
				history_wrote(h, c);
			c->wrote = 1;
		}
	} else if (c->how & ACCESS_WRITE) {
		history_set_older(h, c);
	}
	c->how = (uint8_t)(what->access | (what->own ? HISTORY_OWN : 0) | (noted ? HISTORY_NOTED : 0));
}

static inline void history_settle(struct history *h, struct history_cell *c,
				  const struct moment *now, const struct history_what *what, bool noted)
{
	history_settle_but(h, c, what, noted);
	c->last = *now;
}

/* The cell's last write, when it is older than its last access. */
static inline const struct moment *history_older(const struct history *h,
						 const struct history_cell *c)
{
	return older_of(h, c);
}

#endif

/*
 * For atomicity.c and history_note.c: what is asked at every access. Most of them find that
 * nothing is new.
 */
#ifndef ANALYZE_HISTORY_KNOWN_H
#define ANALYZE_HISTORY_KNOWN_H

#include "analyze/history.h"

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

static inline uint64_t rep_key(const struct moment *m)
{
	return (uint64_t)m->epoch << 32 | m->tag;
}

#define TWO_CLOCKS (1ull << 63)

/* Lower half: what it is; upper half: under which clock, or a hash of the two. */
static inline uint64_t pair_key(const struct history_like *p)
{
	uint64_t hash = history_mix(history_mix(0, (uint64_t)p->p->tag << 32 | p->i->tag),
				    (uint64_t)p->bytes << 8 | (uint64_t)p->cuts << 1 | p->wide);

	for (unsigned i = 0; i < p->cuts; i++)
		hash = history_mix(hash, p->cut[i]);
	if (p->p->epoch == p->i->epoch)
		return (uint64_t)p->i->epoch << 32 | (uint32_t)hash;
	return TWO_CLOCKS | history_mix(history_mix(0, p->p->epoch), p->i->epoch) << 32 |
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

/* The cell has a representative of now.tag under this clock. */
static inline bool history_has(const struct history *h, struct history_cell *c,
			       const struct moment *now)
{
	uint64_t key = rep_key(now);
	unsigned n;

	if (rep_key(&c->last) == key && c->noted)
		return true;
	if (c->rep_count <= 1)
		return false;
	n = key_find(rep_keys(h, c), c->rep_count, c->rep_hint, key);
	if (n == c->rep_count)
		return false;
	c->rep_hint = n;
	return true;
}

/* The cell has a pair like this. */
static inline bool history_has_pair(const struct history *h, struct history_cell *c,
				    const struct history_like *like)
{
	unsigned n = key_find(pair_keys(h, c), c->pair_count, c->pair_hint, pair_key(like));

	if (n == c->pair_count)
		return false;
	c->pair_hint = n;
	return true;
}

/* For history_settle(): what was last is the older write now. */
void history_set_older(struct history *h, struct history_cell *c);

/* The access is over: it was the cell's last one. */
static inline void history_settle(struct history *h, struct history_cell *c,
				  const struct moment *now, const struct history_what *what, bool noted)
{
	if (what->access & ACCESS_WRITE) {
		c->older = 0;
		if (!c->wrote)
			history_wrote(h, c);
	} else if (c->access & ACCESS_WRITE) {
		history_set_older(h, c);
	}
	c->last = *now;
	c->access = what->access;
	c->own = what->own;
	c->noted = noted;
}

/* The cell's last write, when it is older than its last access. */
static inline const struct moment *history_older(const struct history *h,
						 const struct history_cell *c)
{
	return older_of(h, c);
}

#endif

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

static inline unsigned key_find(const uint64_t *keys, unsigned count, uint64_t key)
{
	unsigned i = 0;

	while (i < count && keys[i] != key)
		i++;
	return i;
}

/* The cell has a representative of now.tag under this clock. */
static inline bool history_has(const struct history *h, const struct history_cell *c,
			       const struct moment *now)
{
	uint64_t key = rep_key(now);

	if (rep_key(&c->last) == key && c->noted)
		return true;
	return c->rep_count > 1 && key_find(rep_keys(h, c), c->rep_count, key) < c->rep_count;
}

/* The cell has a pair like this. Code that comes by again makes its pairs in the same order. */
static inline bool history_has_pair(const struct history *h, struct history_cell *c,
				    const struct history_like *like)
{
	unsigned count = c->pair_count, n = c->hint < count ? c->hint : 0;
	uint64_t key = pair_key(like);
	const uint64_t *keys;

	if (!count)
		return false;
	keys = pair_keys(h, c);
	if (keys[n] != key)
		n = key_find(keys, count, key);
	c->hint = n + 1;
	return n < count;
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

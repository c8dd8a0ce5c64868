/*
 * For history_known.h: cells that have one pair and nothing beyond it. Of most places this is all
 * that is ever kept: two accesses side by side, with all that surrounds them in common. The second is
 * the cell's last, the first differs from it in number, time and tag, for which there is room where the
 * cell would say where its units are. The next access to the cell ends this.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_YOUNG_H
#define ANALYZE_ATOMICITY_HISTORY_YOUNG_H

#include "analyze/atomicity/history.h"

/*
 * The cell's second access, `like` it and the first, is noted and settled, with their pair, if
 * a young cell can say it; else nothing is done.
 */
bool history_young(struct history *h, struct history_cell *c, const struct history_like *like,
		   const struct history_what *what);

/* It gets units as others have. */
void history_grow_up(struct history *h, struct history_cell *c);

static inline uint64_t rep_key(const struct moment *m)
{
	return (uint64_t)m->epoch << 32 | m->tag;
}

/* So much younger is the last access than the first. */
static inline uint64_t young_steps(const struct history_cell *c)
{
	return c->rep_hint | (uint64_t)c->pair_hint << 8;
}

static inline uint64_t young_time(const struct history_cell *c)
{
	return c->reps;
}

/* Its number. */
static inline uint32_t young_shape(const struct history_cell *c)
{
	return c->pairs;
}

/* Of two. */
static inline uint64_t young_rep_key(const struct history *h, const struct history_cell *c, unsigned n)
{
	return (uint64_t)c->last.epoch << 32 | (n ? c->last.tag : h->shapes[young_shape(c)].p);
}

static inline struct moment young_rep(const struct history *h, const struct history_cell *c, unsigned n)
{
	struct moment m = c->last;

	if (n)
		return m;
	m.index -= young_steps(c);
	m.time -= young_time(c);
	m.tag = h->shapes[young_shape(c)].p;
	return m;
}

static inline void young_pair(const struct history_cell *c, struct history_pair *out)
{
	const struct moment *i = &c->last;

	*out = (struct history_pair){
		.p = { i->index - young_steps(c), i->time - young_time(c), i->situation, i->stack },
		.i = { i->index, i->time, i->situation, i->stack },
		.shape = young_shape(c), .bytes = c->bytes,
	};
}

#endif

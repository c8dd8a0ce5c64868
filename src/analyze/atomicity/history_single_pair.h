/*
 * For history_known.h: cells that have one pair and nothing beyond it. Of most places this is all
 * that is ever kept: two accesses side by side, with all that surrounds them in common. The second is
 * the cell's last, the first differs from it in number, time and tag, for which there is room where the
 * cell would say where its units are. The next access to the cell ends this.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_SINGLE_PAIR_H
#define ANALYZE_ATOMICITY_HISTORY_SINGLE_PAIR_H

#include "analyze/atomicity/history.h"

/*
 * The cell's second access, `like` it and the first, is noted and settled, with their pair, if
 * a young cell can say it; else nothing is done.
 */
bool history_note_single_pair(struct history *h, struct history_cell *c,
			      const struct history_probe *probe,
			      const struct history_signature *signature);

/* It gets units as others have. */
void history_expand(struct history *h, struct history_cell *c);

static inline uint64_t rep_key(const struct access_context *m)
{
	return (uint64_t)m->epoch << 32 | m->tag;
}

/* So much younger is the last access than the first. */
static inline uint64_t single_pair_steps(const struct history_cell *c)
{
	return c->rep_hint | (uint64_t)c->pair_hint << 8;
}

static inline uint64_t single_pair_time(const struct history_cell *c)
{
	return c->reps;
}

/* Its number. */
static inline uint32_t single_pair_shape(const struct history_cell *c)
{
	return c->pairs;
}

/* Of two. */
static inline uint64_t single_pair_rep_key(const struct history *h, const struct history_cell *c,
					   unsigned n)
{
	return (uint64_t)c->last.epoch << 32 |
	       (n ? c->last.tag : h->shapes[single_pair_shape(c)].p);
}

static inline struct access_context single_pair_rep(const struct history *h,
						    const struct history_cell *c, unsigned n)
{
	struct access_context m = c->last;

	if (n)
		return m;
	m.index -= single_pair_steps(c);
	m.time -= single_pair_time(c);
	m.tag = h->shapes[single_pair_shape(c)].p;
	return m;
}

static inline void single_pair_unpack(const struct history_cell *c, struct history_pair *out)
{
	const struct access_context *i = &c->last;

	*out = (struct history_pair){
		.p = { i->index - single_pair_steps(c), i->time - single_pair_time(c),
		       i->sync_state, i->stack },
		.i = { i->index, i->time, i->sync_state, i->stack },
		.shape = single_pair_shape(c),
		.bytes = c->bytes,
	};
}

#endif

/*
 * Cells that encode their only pair themselves. Most locations never have more than two accesses of
 * a thread in one block, made under one synchronisation state. The second access is the cell's
 * last; the first differs from it in index, time and signature only. These differences are in the
 * members that otherwise hold the numbers of units. The next access to the cell expands it.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_SINGLE_PAIR_H
#define ANALYZE_ATOMICITY_HISTORY_SINGLE_PAIR_H

#include "analyze/atomicity/history.h"

/*
 * Notes the cell's second access and its pair with the first, and makes it the cell's last one, if
 * a single-pair cell can encode that. Else does nothing and returns false.
 */
bool history_note_single_pair(struct history *h, struct history_cell *c,
			      const struct history_probe *probe,
			      const struct history_signature *signature);

/* Moves the pair and the representatives to units of their own. */
void history_expand(struct history *h, struct history_cell *c);

static inline uint64_t rep_key(const struct access_context *m)
{
	return (uint64_t)m->epoch << 32 | m->tag;
}

/* Number of the thread's events from p to i. */
static inline uint64_t single_pair_steps(const struct history_cell *c)
{
	return c->rep_hint | (uint64_t)c->pair_hint << 8;
}

static inline uint64_t single_pair_time(const struct history_cell *c)
{
	return c->reps;
}

/* Number of the pair's shape. */
static inline uint32_t single_pair_shape(const struct history_cell *c)
{
	return c->pairs;
}

/* The key of representative n, of at most two. */
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

/*
 * For atomicity_match.h: where a pair spans several critical sections, it goes with most accesses of other
 * threads, and what they make was told so often that it only counts. Where many threads come to a place with
 * many locksets that is nearly all of what is compared. So what comes after such a comparison and is of the same
 * sites is counted in one go: the candidate is the same if each access is to be held back where the first one is.
 *
 * Only the usual case is known here: all of them hold two locks, of which they share the inner one.
 */
#ifndef ANALYZE_ATOMICITY_AGAIN_H
#define ANALYZE_ATOMICITY_AGAIN_H

#include "analyze/atomicity.h"

/* What was counted; all 0: none. */
struct again {
	uint32_t within[3];	/* of p, r and i */
	uint32_t told;		/* the candidate; 0: none */
	bool same;		/* it is of the same sites */
	bool wide;
	bool always;		/* whether the trace shows it or not */
};

/* Nothing but the inner lock: no lock that one of them takes is the other's outer one. */
static inline bool again_inner(const struct locks_ends *x, const struct locks_ends *y)
{
	return !(locks_bit(x->outer) & y->taken) && !(locks_bit(y->outer) & x->taken);
}

/*
 * This pair and access only count, as told_always() or told_often() said, and so does all that is alike.
 * `always`: even if the trace has it in this order.
 */
static inline void again_set(const struct atomicity *a, struct again *g, const struct local *l, uint32_t what,
			     const struct verdict *v, bool always)
{
	const struct history_shape *s = &a->history.shapes[l->pair->shape];
	const struct history_what *whats = a->history.whats, *p = &whats[s->p], *i = &whats[s->i];
	const struct history_what *r = &whats[what];
	const struct locks_ends *ends = locks_ends(a->locks), *x = &ends[p->lockset], *y = &ends[r->lockset];
	const struct locks_ends *z = &ends[i->lockset];

	if (s->cut[0] || r->own || !p->within || !r->within || !i->within || x->inner != y->inner ||
	    z->inner != y->inner || !again_inner(x, y) || !again_inner(z, y))
		return;
	*g = (struct again){
		.within = { p->within, r->within, i->within },
		.told = v->told, .same = v->same, .wide = s->wide, .always = always,
	};
}

/* Of the cell's representatives below `from`, the next so many of this clock make the same with this pair. */
static inline unsigned again_reps(const struct atomicity *a, const struct again *g, const struct local *l,
				  const struct history_cell *c, unsigned from, uint32_t epoch)
{
	const struct history *h = &a->history;
	const struct history_shape *s = &h->shapes[l->pair->shape];
	const struct locks_ends *ends = locks_ends(a->locks), *x = &ends[h->whats[s->p].lockset];
	const struct locks_ends *z = &ends[h->whats[s->i].lockset], *y;
	uint64_t outer = locks_bit(x->outer) | locks_bit(z->outer), taken = x->taken | z->taken;
	const uint64_t *keys = rep_keys(h, c);
	const struct history_what *r;
	unsigned k = from;

	for (; k > 0; k--) {
		r = &h->whats[(uint32_t)keys[k - 1]];
		if (keys[k - 1] >> 32 != epoch || r->within != g->within[1] || r->own)
			break;
		y = &ends[r->lockset];
		if (y->taken & outer || locks_bit(y->outer) & taken)
			break;
	}
	return from - k;
}

/* Of the cell's pairs below `from`, the next so many of this clock make the same with the access. */
static inline unsigned again_pairs(const struct atomicity *a, const struct again *g, const struct history_cell *c,
				   unsigned from, uint32_t epoch, uint32_t what, uint8_t bytes)
{
	const struct history *h = &a->history;
	const struct locks_ends *ends = locks_ends(a->locks), *y = &ends[h->whats[what].lockset], *x, *z;
	uint64_t outer = locks_bit(y->outer);
	const uint64_t *keys;
	const struct history_pair *list = history_pairs(h, c, &keys);
	const struct history_what *p, *i;
	const struct history_shape *s;
	unsigned k = from;

	for (; k > 0 && keys[k - 1] >> 32 == epoch && list[k - 1].bytes & bytes; k--) {
		s = &h->shapes[list[k - 1].shape];
		p = &h->whats[s->p];
		i = &h->whats[s->i];
		if (p->within != g->within[0] || i->within != g->within[2] || s->cut[0] || s->wide != g->wide)
			break;
		x = &ends[p->lockset];
		z = &ends[i->lockset];
		if ((x->taken | z->taken) & outer || (locks_bit(x->outer) | locks_bit(z->outer)) & y->taken)
			break;
	}
	return from - k;
}

#endif

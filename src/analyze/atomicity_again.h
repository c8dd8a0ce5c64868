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
	uint64_t pc[3];		/* of p, r and i */
	uint64_t inner_pc[3];	/* where each took the inner lock */
	uint64_t inner;
	uint32_t access;	/* of p, r and i, a byte each */
	uint32_t told;		/* the candidate; 0: none */
	bool same;		/* it is of the same sites */
	bool wide;
	bool always;		/* whether the trace shows it or not */
};

static inline uint32_t again_access(const struct history_what *p, const struct history_what *r,
				    const struct history_what *i)
{
	return p->access | (uint32_t)r->access << 8 | (uint32_t)i->access << 16;
}

/* Nothing but the inner lock: no lock that one of them takes is the other's outer one. */
static inline bool again_inner(const struct locks_ends *x, const struct locks_ends *y)
{
	return x->count == 2 && !x->inner_shared && x->inner == y->inner &&
	       !(locks_bit(x->outer) & y->taken) && !(locks_bit(y->outer) & x->taken);
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

	if (s->cut[0] || r->own || y->count != 2 || !again_inner(x, y) || !again_inner(z, y))
		return;
	*g = (struct again){
		.pc = { p->pc, r->pc, i->pc }, .inner_pc = { x->inner_pc, y->inner_pc, z->inner_pc },
		.inner = y->inner, .access = again_access(p, r, i),
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
		y = &ends[r->lockset];
		if (keys[k - 1] >> 32 != epoch || r->pc != g->pc[1] || r->own ||
		    r->access != (g->access >> 8 & 255) || y->count != 2 || y->inner != g->inner ||
		    y->inner_shared || y->inner_pc != g->inner_pc[1] || y->taken & outer ||
		    locks_bit(y->outer) & taken)
			break;
	}
	return from - k;
}

/* The pair makes the same with an access that does not change. */
static inline bool again_pair(const struct atomicity *a, const struct again *g, const struct local *l,
			      uint32_t what)
{
	const struct history_shape *s = &a->history.shapes[l->pair->shape];
	const struct history_what *whats = a->history.whats, *p = &whats[s->p], *i = &whats[s->i];
	const struct history_what *r = &whats[what];
	const struct locks_ends *ends = locks_ends(a->locks), *x = &ends[p->lockset], *z = &ends[i->lockset];
	const struct locks_ends *y = &ends[r->lockset];

	return p->pc == g->pc[0] && i->pc == g->pc[2] &&
	       again_access(p, r, i) == g->access && !s->cut[0] && s->wide == g->wide &&
	       x->inner_pc == g->inner_pc[0] && z->inner_pc == g->inner_pc[2] && again_inner(x, y) &&
	       again_inner(z, y);
}

#endif

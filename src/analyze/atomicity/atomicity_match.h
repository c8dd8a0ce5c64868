/*
 * For atomicity.c, which most of it is inlined into: what is new at a location, a pair or an access, against
 * all that other threads did there.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_MATCH_H
#define ANALYZE_ATOMICITY_ATOMICITY_MATCH_H

#include "analyze/atomicity/atomicity_again.h"

/* An answer of moments_fixed(), for the next one who asks the same; all 0: none. */
struct fixed {
	uint32_t p, r, i;
	bool is;
};

static inline bool is_fixed(const struct atomicity *a, struct fixed *f, uint32_t p, uint32_t r,
			    uint32_t i)
{
	if (f->p != p || f->r != r || f->i != i)
		*f = (struct fixed){ p, r, i, moments_fixed(a->moments, p, r, r, i) };
	return f->is;
}

/*
 * Whether the two go together but for time, and how; NULL if not, which was counted. `before`:
 * that strong happens-before leaves no choice is known already.
 */
static inline struct verdict *compare(struct atomicity *a, const struct local *l, uint32_t what,
				      uint32_t epoch, bool before, struct fixed *fixed)
{
	struct verdict *v = verdict_of(a, l->pair->shape, what);

	if (v->pattern == PATTERN_NONE)
		return NULL;
	if (before || is_fixed(a, fixed, l->p, epoch, l->i))
		a->pruned[PRUNE_HB]++;
	else if (v->why != PRUNE_REASONS)
		a->pruned[v->why]++;
	else
		return v;
	return NULL;
}

/* True: it only counts; then so may what follows. `shown`: the trace may have it within the pair. */
static inline bool counts(struct atomicity *a, const struct local *l, uint32_t what, bool shown,
			  struct verdict *v, struct again *again, struct findings *out)
{
	bool always = atomicity_counts(a, l, what, v, out);

	if (!always && (shown || !atomicity_told(a, l, UINT64_MAX, v, out)))
		return false;
	if (!again->told || (always && !again->always))
		again_set(a, again, l, what, v, always);
	return true;
}

/* The same of one, if it goes with the pair at all. */
static inline void match(struct atomicity *a, const struct local *l, const struct moment *r, bool before,
			 bool shown, struct fixed *fixed, struct again *again, struct findings *out)
{
	struct verdict *v = compare(a, l, r->tag, r->epoch, before, fixed);

	if (v && !counts(a, l, r->tag, shown, v, again, out) &&
	    !(shown && atomicity_told(a, l, r->time, v, out)))
		atomicity_tell(a, l, r, v, out);
}

/* So many representatives of the cell, from number `k` on downwards, are counted as others were. */
static inline unsigned count_again(struct atomicity *a, const struct local *l, const struct history_cell *c,
				   unsigned k, uint32_t epoch, const struct again *again,
				   struct fixed *fixed, struct findings *out)
{
	unsigned count;

	if (c->rep_count == 1 || c->young || is_fixed(a, fixed, l->p, epoch, l->i))
		return 0;
	count = again_reps(a, again, l, c, k + 1, epoch);
	if (count)
		told_more(&a->told, again->told, again->same, count, out);
	return count;
}

/* With what another thread has of the location. */
static inline void match_reps(struct atomicity *a, const struct local *l, const struct history_cell *c,
			      struct again *again, struct fixed *fixed, struct findings *out)
{
	bool before = moments_ordered(a->moments, c->last.epoch, l->p);
	bool shown = c->last.time > l->pair->p.time;
	unsigned count;
	struct verdict *v;
	struct moment r;
	uint64_t key;

	for (unsigned k = c->rep_count; k-- > 0;) {
		key = history_rep_key(&a->history, c, k);
		count = 0;
		if (!before && (again->told || again_known(a, again, l->pair->shape, (uint32_t)key)) &&
		    (again->always || !shown))
			count = count_again(a, l, c, k, (uint32_t)(key >> 32), again, fixed, out);
		if (count) {
			k -= count - 1;
			continue;
		}
		v = compare(a, l, (uint32_t)key, (uint32_t)(key >> 32), before, fixed);
		if (!v || counts(a, l, (uint32_t)key, shown, v, again, out) ||
		    (shown && atomicity_told(a, l, history_rep_time(&a->history, c, k), v, out)))
			continue;
		r = history_rep(&a->history, c, k);
		atomicity_tell(a, l, &r, v, out);
	}
}

/* Where threads are few, it is not asked. */
static inline bool none_meets(struct atomicity *a, const struct history_cell *c, uint32_t shape,
			      uint32_t what, bool shown, struct findings *out)
{
	struct history_kinds *kinds = history_kinds_here(&a->history, c);

	return kinds && atomicity_none_among(a, kinds, shape, what, shown, out);
}

/* Other threads' cells, once they were asked for. */
struct others {
	bool known;
	size_t count;
	const struct history_cell *const *list;
};

static inline void find_others(struct atomicity *a, const struct history_cell *c, uint8_t bytes,
			       struct others *o)
{
	if (!o->known)
		o->count = history_others(&a->history, c, bytes, &o->list);
	o->known = true;
}

/* With all that other threads did to the location. */
static void match_pair(struct atomicity *a, const struct local *l, bool quiet, struct others *o,
		       struct findings *out)
{
	const struct history_shape *shape = &a->history.shapes[l->pair->shape];
	const struct history_what *whats = a->history.whats;
	struct fixed fixed = { 0 };
	struct again again = { 0 };

	/* Reads alone do not harm but between two writes. */
	if (!(whats[shape->p].access & whats[shape->i].access & ACCESS_WRITE) &&
	    !history_written(&a->history, l->cell))
		return;
	if (none_meets(a, l->cell, l->pair->shape, 0, !quiet, out))
		return;
	find_others(a, l->cell, l->pair->bytes, o);
	for (size_t n = 0; n < o->count; n++)
		match_reps(a, l, o->list[n], &again, &fixed, out);
}

/* So many pairs of the cell, from number `k` on downwards, are counted as others were. */
static inline unsigned count_pairs(struct atomicity *a, const struct history_cell *c, unsigned k, uint32_t epoch,
				   const struct moment *now, uint8_t bytes, const struct again *again,
				   struct fixed *fixed, struct findings *out)
{
	unsigned count;

	if (c->young || is_fixed(a, fixed, epoch, now->epoch, epoch))
		return 0;
	count = again_pairs(a, again, c, k + 1, epoch, now->tag, bytes);
	if (count)
		told_more(&a->told, again->told, again->same, count, out);
	return count;
}

/* What is new with the pairs of another thread. */
static inline void match_pairs(struct atomicity *a, const struct history_cell *o, const struct moment *now,
			       uint8_t bytes, struct again *again, struct fixed *fixed, struct findings *out)
{
	bool before = moments_ordered(a->moments, o->last.epoch, now->epoch);
	struct local l = { .cell = o };
	struct history_pair room;
	unsigned count;

	for (unsigned k = o->pair_count; k-- > 0;) {
		history_pair_epochs(&a->history, o, k, &l.p, &l.i);
		count = 0;
		if (!before && l.p == l.i && !o->young &&
		    (again->told || again_known(a, again, history_pair_shape(&a->history, o, k), now->tag)))
			count = count_pairs(a, o, k, l.p, now, bytes, again, fixed, out);
		if (count) {
			k -= count - 1;
			continue;
		}
		l.pair = history_pair(&a->history, o, k, &room);
		if (l.pair->bytes & bytes)
			match(a, &l, now, before, false, fixed, again, out);
	}
}

static void match_access(struct atomicity *a, const struct history_cell *c, const struct moment *now,
		      struct others *o, struct findings *out)
{
	bool writes = a->history.whats[now->tag].access & ACCESS_WRITE;
	struct fixed fixed = { 0 };
	struct again again = { 0 };

	if (!writes && !history_written(&a->history, c))
		return;
	if (none_meets(a, c, 0, now->tag, false, out))
		return;
	/* A read does not harm but between two writes. */
	if (!writes && !history_twice(&a->history, c))
		return;
	find_others(a, c, c->bytes, o);
	for (size_t n = 0; n < o->count; n++)
		match_pairs(a, o->list[n], now, c->bytes, &again, &fixed, out);
}

/* The other threads' accesses within the pair in the trace itself. */
static void match_inside(struct atomicity *a, const struct local *l,
			 const struct history_cell *const *inside, size_t count,
			 struct findings *out)
{
	uint64_t from = l->pair->p.time;
	const struct history *h = &a->history;
	const struct moment *write, *last;
	struct fixed fixed = { 0 };
	struct again again = { 0 };

	for (size_t k = 0; k < count; k++) {
		const struct history_cell *c = inside[k];

		if (!(c->bytes & l->pair->bytes))
			continue;
		last = is_noted(c) ? &c->last : NULL;
		write = c->older && c->older_noted ? history_older(h, c) : NULL;
		if (write && write->time > from)
			match(a, l, write, false, true, &fixed, &again, out);
		if (last && last->time > from)
			match(a, l, last, false, true, &fixed, &again, out);
	}
}

#endif

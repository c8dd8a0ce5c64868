/*
 * Compares a pair or an access that is new at a location with all accesses, or pairs, of other
 * threads there. For atomicity.c, into which most of it is inlined.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_MATCH_H
#define ANALYZE_ATOMICITY_ATOMICITY_MATCH_H

#include "analyze/atomicity/atomicity_count_memo.h"

/* The last result of contexts_order_fixed(), by epochs. All zero: none. */
struct order_memo {
	uint32_t p, r, i;
	bool fixed;
};

static inline bool is_order_fixed(const struct atomicity *a, struct order_memo *f, uint32_t p,
				  uint32_t r, uint32_t i)
{
	if (f->p != p || f->r != r || f->i != i)
		*f = (struct order_memo){ p, r, i, contexts_order_fixed(a->contexts, p, r, r, i) };
	return f->fixed;
}

/*
 * Returns the verdict on the pair and the access `signature`, if locks and strong happens-before
 * allow the triple. Else counts why not, and returns NULL. `ordered`: strong happens-before is
 * known to order the pair and the access, so that it forbids the triple.
 */
static inline struct triple_verdict *compare(struct atomicity *a, const struct local_pair *l,
					     uint32_t signature, uint32_t epoch, bool ordered,
					     struct order_memo *order_memo)
{
	struct triple_verdict *v = atomicity_verdict(a, l->pair->shape, signature);

	if (v->pattern == PATTERN_NONE)
		return NULL;
	if (ordered || is_order_fixed(a, order_memo, l->p, epoch, l->i))
		a->pruned[PRUNE_HB]++;
	else if (v->why != PRUNE_REASONS)
		a->pruned[v->why]++;
	else
		return v;
	return NULL;
}

/*
 * If the triple only adds 1 to the count of a reported candidate, counts it and returns true. Also
 * tries to set *count_memo for the triples that follow. `maybe_seen`: the trace may show the access
 * inside the pair.
 */
static inline bool only_counts(struct atomicity *a, const struct local_pair *l, uint32_t signature,
			       bool maybe_seen, struct triple_verdict *v,
			       struct count_memo *count_memo, struct findings *out)
{
	bool always = atomicity_count_always(a, l, signature, v, out);

	if (!always && (maybe_seen || !atomicity_count_early(a, l, UINT64_MAX, v, out)))
		return false;
	if (!count_memo->reported || (always && !count_memo->always))
		count_memo_set(a, count_memo, l, signature, v, always);
	return true;
}

/* Compares the pair with the access `r`, and reports or counts the triple. */
static inline void match(struct atomicity *a, const struct local_pair *l,
			 const struct access_context *r, bool ordered, bool maybe_seen,
			 struct order_memo *order_memo, struct count_memo *count_memo,
			 struct findings *out)
{
	struct triple_verdict *v = compare(a, l, r->tag, r->epoch, ordered, order_memo);

	if (v && !only_counts(a, l, r->tag, maybe_seen, v, count_memo, out) &&
	    !(maybe_seen && atomicity_count_early(a, l, r->time, v, out)))
		atomicity_report(a, l, r, v, out);
}

/*
 * Counts adjacent representatives of the cell, from number `k` downwards, that need nothing else.
 * Returns their number.
 */
static inline unsigned count_reps(struct atomicity *a, const struct local_pair *l,
				  const struct history_cell *c, unsigned k, uint32_t epoch,
				  const struct count_memo *count_memo,
				  struct order_memo *order_memo, struct findings *out)
{
	unsigned count;

	if (c->rep_count == 1 || c->single_pair || is_order_fixed(a, order_memo, l->p, epoch, l->i))
		return 0;
	count = count_memo_reps(a, count_memo, l, c, k + 1, epoch);
	if (count)
		dedupe_add_count(&a->dedupe, count_memo->reported, count_memo->same_sites, count,
				 out);
	return count;
}

/* Compares the pair with all representatives in another thread's cell. */
static inline void match_reps(struct atomicity *a, const struct local_pair *l,
			      const struct history_cell *c, struct count_memo *count_memo,
			      struct order_memo *order_memo, struct findings *out)
{
	bool ordered = contexts_ordered(a->contexts, c->last.epoch, l->p);
	bool maybe_seen = c->last.time > l->pair->p.time;
	unsigned count;
	struct triple_verdict *v;
	struct access_context r;
	uint64_t key;

	for (unsigned k = c->rep_count; k-- > 0;) {
		key = history_rep_key(&a->history, c, k);
		count = 0;
		if (!ordered &&
		    (count_memo->reported ||
		     count_memo_find(a, count_memo, l->pair->shape, (uint32_t)key)) &&
		    (count_memo->always || !maybe_seen))
			count = count_reps(a, l, c, k, (uint32_t)(key >> 32), count_memo,
					   order_memo, out);
		if (count) {
			k -= count - 1;
			continue;
		}
		v = compare(a, l, (uint32_t)key, (uint32_t)(key >> 32), ordered, order_memo);
		if (!v || only_counts(a, l, (uint32_t)key, maybe_seen, v, count_memo, out) ||
		    (maybe_seen &&
		     atomicity_count_early(a, l, history_rep_time(&a->history, c, k), v, out)))
			continue;
		r = history_rep(&a->history, c, k);
		atomicity_report(a, l, &r, v, out);
	}
}

/* True if comparing with the granule's kinds yields nothing new. False if there are no kinds. */
static inline bool nothing_new_by_kind(struct atomicity *a, const struct history_cell *c,
				       uint32_t shape, uint32_t signature, bool maybe_seen,
				       struct findings *out)
{
	struct history_kinds *kinds = history_kinds_here(&a->history, c);

	return kinds && atomicity_nothing_new(a, kinds, shape, signature, maybe_seen, out);
}

/* The other threads' cells at the granule, looked up when first needed. */
struct other_cells {
	bool known;
	size_t count;
	const struct history_cell *const *list;
};

static inline void find_others(struct atomicity *a, const struct history_cell *c, uint8_t bytes,
			       struct other_cells *o)
{
	if (!o->known)
		o->count = history_others(&a->history, c, bytes, &o->list);
	o->known = true;
}

/*
 * Compares a new pair with all accesses of other threads to the location. `undisturbed`: the trace
 * shows no access of another thread inside the pair. `o` caches the other threads' cells.
 */
static void match_pair(struct atomicity *a, const struct local_pair *l, bool undisturbed,
		       struct other_cells *o, struct findings *out)
{
	const struct history_shape *shape = &a->history.shapes[l->pair->shape];
	const struct history_signature *signatures = a->history.signatures;
	struct order_memo order_memo = { 0 };
	struct count_memo count_memo = { 0 };

	/* A pair with a read is broken by writes only. */
	if (!(signatures[shape->p].access & signatures[shape->i].access & ACCESS_WRITE) &&
	    !history_written(&a->history, l->cell))
		return;
	if (nothing_new_by_kind(a, l->cell, l->pair->shape, 0, !undisturbed, out))
		return;
	find_others(a, l->cell, l->pair->bytes, o);
	for (size_t n = 0; n < o->count; n++)
		match_reps(a, l, o->list[n], &count_memo, &order_memo, out);
}

/*
 * Counts adjacent pairs of the cell, from number `k` downwards, that need nothing else. Returns
 * their number.
 */
static inline unsigned count_pairs(struct atomicity *a, const struct history_cell *c, unsigned k,
				   uint32_t epoch, const struct access_context *now, uint8_t bytes,
				   const struct count_memo *count_memo,
				   struct order_memo *order_memo, struct findings *out)
{
	unsigned count;

	if (c->single_pair || is_order_fixed(a, order_memo, epoch, now->epoch, epoch))
		return 0;
	count = count_memo_pairs(a, count_memo, c, k + 1, epoch, now->tag, bytes);
	if (count)
		dedupe_add_count(&a->dedupe, count_memo->reported, count_memo->same_sites, count,
				 out);
	return count;
}

/* Compares a new access with all pairs in another thread's cell. */
static inline void match_pairs(struct atomicity *a, const struct history_cell *o,
			       const struct access_context *now, uint8_t bytes,
			       struct count_memo *count_memo, struct order_memo *order_memo,
			       struct findings *out)
{
	bool ordered = contexts_ordered(a->contexts, o->last.epoch, now->epoch);
	struct local_pair l = { .cell = o };
	struct history_pair unpacked;
	unsigned count;

	for (unsigned k = o->pair_count; k-- > 0;) {
		history_pair_epochs(&a->history, o, k, &l.p, &l.i);
		count = 0;
		if (!ordered && l.p == l.i && !o->single_pair &&
		    (count_memo->reported ||
		     count_memo_find(a, count_memo, history_pair_shape(&a->history, o, k),
				     now->tag)))
			count = count_pairs(a, o, k, l.p, now, bytes, count_memo, order_memo, out);
		if (count) {
			k -= count - 1;
			continue;
		}
		l.pair = history_pair(&a->history, o, k, &unpacked);
		if (l.pair->bytes & bytes)
			match(a, &l, now, ordered, false, order_memo, count_memo, out);
	}
}

/* Compares a new access with all pairs of other threads at the location. */
static void match_access(struct atomicity *a, const struct history_cell *c,
			 const struct access_context *now, struct other_cells *o,
			 struct findings *out)
{
	bool writes = a->history.signatures[now->tag].access & ACCESS_WRITE;
	struct order_memo order_memo = { 0 };
	struct count_memo count_memo = { 0 };

	if (!writes && !history_written(&a->history, c))
		return;
	if (nothing_new_by_kind(a, c, 0, now->tag, false, out))
		return;
	/* A read breaks two writes only. */
	if (!writes && !history_has_write_pair(&a->history, c))
		return;
	find_others(a, c, c->bytes, o);
	for (size_t n = 0; n < o->count; n++)
		match_pairs(a, o->list[n], now, c->bytes, &count_memo, &order_memo, out);
}

/* Compares a known pair with accesses that the trace shows between its two accesses. */
static void match_inside(struct atomicity *a, const struct local_pair *l,
			 const struct history_cell *const *inside, size_t count,
			 struct findings *out)
{
	uint64_t from = l->pair->p.time;
	const struct history *h = &a->history;
	const struct access_context *write, *last;
	struct order_memo order_memo = { 0 };
	struct count_memo count_memo = { 0 };

	for (size_t k = 0; k < count; k++) {
		const struct history_cell *c = inside[k];

		if (!(c->bytes & l->pair->bytes))
			continue;
		last = is_noted(c) ? &c->last : NULL;
		write = c->older_write && c->older_write_noted ? history_older_write(h, c) : NULL;
		if (write && write->time > from)
			match(a, l, write, false, true, &order_memo, &count_memo, out);
		if (last && last->time > from)
			match(a, l, last, false, true, &order_memo, &count_memo, out);
	}
}

#endif

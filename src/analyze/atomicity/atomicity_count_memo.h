/*
 * Counts many triples in one step. A pair that spans several critical sections makes triples with
 * most accesses of other threads, and soon these only have to be counted. Where many threads access
 * a location with many locksets, nearly all comparisons are of this kind. So after one of them, the
 * triples that follow and belong to the same candidate are counted together: those whose three
 * threads are stopped at the same sites.
 *
 * Only the usual case is handled: all three accesses hold two locks, of which the inner one is the
 * same.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_COUNT_MEMO_H
#define ANALYZE_ATOMICITY_ATOMICITY_COUNT_MEMO_H

#include "analyze/atomicity/atomicity.h"
#include "base/hash.h"

/* True if only the inner lock is common: neither side ever takes the other's outer lock. */
static inline bool only_inner_common(const struct history_pair_nesting *pair,
				     const struct history_nesting *r)
{
	return !(r->taken & pair->outer) && !(pair->taken >> r->outer & 1);
}

static inline struct count_memo *count_memo_slot(struct atomicity *a, const uint32_t inner_class[3])
{
	uint64_t hash = inner_class[0] * 3ull + inner_class[1] * 5ull + inner_class[2] * 7ull;

	return &a->count_memo[hash_spread(hash) >> 40 & (COUNT_MEMO - 1)];
}

/*
 * Remembers that the triple and all like it only have to be counted: dedupe_count_always()
 * (`always`) or else dedupe_count_early() returned true. Does nothing in cases that are not
 * handled.
 */
static inline void count_memo_set(struct atomicity *a, struct count_memo *memo,
				  const struct local_pair *l, uint32_t signature,
				  const struct triple_verdict *v, bool always)
{
	const struct history_pair_nesting *pair = &a->history.pair_nesting[l->pair->shape];
	const struct history_nesting *r = &a->history.nesting[signature];
	const struct locks_ends *ends = locks_ends(a->locks);
	const struct history_signature *signatures = a->history.signatures;
	uint64_t inner = ends[signatures[signature].lockset].inner;

	if (!pair->p || !r->inner_class || ends[signatures[pair->p].lockset].inner != inner ||
	    ends[signatures[pair->i & ~HISTORY_SPANS_READS].lockset].inner != inner ||
	    !only_inner_common(pair, r))
		return;
	*memo = (struct count_memo){
		.inner_class = { pair->p, r->inner_class, pair->i },
		.reported = v->reported,
		.same_sites = v->same_sites,
		.always = always,
	};
	*count_memo_slot(a, memo->inner_class) = *memo;
}

/* Looks up whether triples like this one only have to be counted. If so, fills in *memo. */
static inline bool count_memo_find(struct atomicity *a, struct count_memo *memo, uint32_t shape,
				   uint32_t signature)
{
	const struct history_pair_nesting *pair = &a->history.pair_nesting[shape];
	uint32_t inner_class[3] = { pair->p, a->history.nesting[signature].inner_class, pair->i };
	const struct count_memo *known = count_memo_slot(a, inner_class);

	if (!inner_class[0] || !inner_class[1] || known->inner_class[0] != inner_class[0] ||
	    known->inner_class[1] != inner_class[1] || known->inner_class[2] != inner_class[2])
		return false;
	*memo = *known;
	return true;
}

/*
 * Returns how many representatives, from number `from` - 1 downwards, belong to the memo's
 * candidate with this pair, and have this epoch.
 */
static inline unsigned count_memo_reps(const struct atomicity *a, const struct count_memo *memo,
				       const struct local_pair *l, const struct history_cell *c,
				       unsigned from, uint32_t epoch)
{
	const struct history *h = &a->history;
	const struct history_pair_nesting *pair = &h->pair_nesting[l->pair->shape];
	const uint64_t *keys = rep_keys(h, c);
	const struct history_nesting *r;
	unsigned k = from;

	for (; k > 0; k--) {
		r = &h->nesting[(uint32_t)keys[k - 1]];
		if (keys[k - 1] >> 32 != epoch || r->inner_class != memo->inner_class[1] ||
		    !only_inner_common(pair, r))
			break;
	}
	return from - k;
}

/*
 * Returns how many pairs of the cell, from number `from` - 1 downwards, belong to the memo's
 * candidate with this access, and have this epoch.
 */
static inline unsigned count_memo_pairs(const struct atomicity *a, const struct count_memo *memo,
					const struct history_cell *c, unsigned from, uint32_t epoch,
					uint32_t signature, uint8_t bytes)
{
	const struct history *h = &a->history;
	const struct history_nesting *r = &h->nesting[signature];
	const uint64_t *keys;
	const struct history_pair *list = history_pairs(h, c, &keys);
	const struct history_pair_nesting *pair;
	unsigned k = from;

	for (; k > 0 && keys[k - 1] >> 32 == epoch && list[k - 1].bytes & bytes; k--) {
		pair = &h->pair_nesting[list[k - 1].shape];
		if (pair->p != memo->inner_class[0] || pair->i != memo->inner_class[2] ||
		    !only_inner_common(pair, r))
			break;
	}
	return from - k;
}

#endif

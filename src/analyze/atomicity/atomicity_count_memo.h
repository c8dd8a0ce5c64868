/*
 * For atomicity_match.h: where a pair spans several critical sections, it goes with most accesses of other
 * threads, and what they make was told so often that it only counts. Where many threads come to a place with
 * many locksets that is nearly all of what is compared. So what comes after such a comparison and is of the same
 * sites is counted in one go: the candidate is the same if each access is to be held back where the first one is.
 *
 * Only the usual case is known here: all of them hold two locks, of which they share the inner one.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_COUNT_MEMO_H
#define ANALYZE_ATOMICITY_ATOMICITY_COUNT_MEMO_H

#include "analyze/atomicity/atomicity.h"
#include "base/hash.h"

/* Nothing but the inner lock: no lock that one of them takes is the other's outer one. */
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
 * This pair and access only count, as told_always() or told_often() said, and so does all that is alike, from
 * now on. `always`: even if the trace has it in this order.
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

/* Whether something is known that may only count, or was known before of such a pair and access. */
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

/* Of the cell's representatives below `from`, the next so many of this clock make the same with this pair. */
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

/* Of the cell's pairs below `from`, the next so many of this clock make the same with the access. */
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

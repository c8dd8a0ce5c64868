/*
 * For atomicity_match.h: where a pair spans several critical sections, it goes with most accesses of other
 * threads, and what they make was told so often that it only counts. Where many threads come to a place with
 * many locksets that is nearly all of what is compared. So what comes after such a comparison and is of the same
 * sites is counted in one go: the candidate is the same if each access is to be held back where the first one is.
 *
 * Only the usual case is known here: all of them hold two locks, of which they share the inner one.
 */
#ifndef ANALYZE_ATOMICITY_ATOMICITY_AGAIN_H
#define ANALYZE_ATOMICITY_ATOMICITY_AGAIN_H

#include "analyze/atomicity/atomicity.h"
#include "base/hash.h"

/* Nothing but the inner lock: no lock that one of them takes is the other's outer one. */
static inline bool again_inner(const struct history_alikes *pair, const struct history_alike *r)
{
	return !(r->taken & pair->outer) && !(pair->taken >> r->outer & 1);
}

static inline struct again *again_slot(struct atomicity *a, const uint32_t within[3])
{
	uint64_t hash = within[0] * 3ull + within[1] * 5ull + within[2] * 7ull;

	return &a->again[hash_spread(hash) >> 40 & (AGAIN - 1)];
}

/*
 * This pair and access only count, as told_always() or told_often() said, and so does all that is alike, from
 * now on. `always`: even if the trace has it in this order.
 */
static inline void again_set(struct atomicity *a, struct again *g, const struct local *l, uint32_t what,
			     const struct verdict *v, bool always)
{
	const struct history_alikes *pair = &a->history.alikes[l->pair->shape];
	const struct history_alike *r = &a->history.alike[what];
	const struct locks_ends *ends = locks_ends(a->locks);
	const struct history_what *whats = a->history.whats;
	uint64_t inner = ends[whats[what].lockset].inner;

	if (!pair->p || !r->within || ends[whats[pair->p].lockset].inner != inner ||
	    ends[whats[pair->i & ~HISTORY_WIDE].lockset].inner != inner || !again_inner(pair, r))
		return;
	*g = (struct again){
		.within = { pair->p, r->within, pair->i },
		.told = v->told, .same = v->same, .always = always,
	};
	*again_slot(a, g->within) = *g;
}

/* Whether something is known that may only count, or was known before of such a pair and access. */
static inline bool again_known(struct atomicity *a, struct again *g, uint32_t shape, uint32_t what)
{
	const struct history_alikes *pair = &a->history.alikes[shape];
	uint32_t within[3] = { pair->p, a->history.alike[what].within, pair->i };
	const struct again *known = again_slot(a, within);

	if (!within[0] || !within[1] || known->within[0] != within[0] || known->within[1] != within[1] ||
	    known->within[2] != within[2])
		return false;
	*g = *known;
	return true;
}

/* Of the cell's representatives below `from`, the next so many of this clock make the same with this pair. */
static inline unsigned again_reps(const struct atomicity *a, const struct again *g, const struct local *l,
				  const struct history_cell *c, unsigned from, uint32_t epoch)
{
	const struct history *h = &a->history;
	const struct history_alikes *pair = &h->alikes[l->pair->shape];
	const uint64_t *keys = rep_keys(h, c);
	const struct history_alike *r;
	unsigned k = from;

	for (; k > 0; k--) {
		r = &h->alike[(uint32_t)keys[k - 1]];
		if (keys[k - 1] >> 32 != epoch || r->within != g->within[1] || !again_inner(pair, r))
			break;
	}
	return from - k;
}

/* Of the cell's pairs below `from`, the next so many of this clock make the same with the access. */
static inline unsigned again_pairs(const struct atomicity *a, const struct again *g, const struct history_cell *c,
				   unsigned from, uint32_t epoch, uint32_t what, uint8_t bytes)
{
	const struct history *h = &a->history;
	const struct history_alike *r = &h->alike[what];
	const uint64_t *keys;
	const struct history_pair *list = history_pairs(h, c, &keys);
	const struct history_alikes *pair;
	unsigned k = from;

	for (; k > 0 && keys[k - 1] >> 32 == epoch && list[k - 1].bytes & bytes; k--) {
		pair = &h->alikes[list[k - 1].shape];
		if (pair->p != g->within[0] || pair->i != g->within[2] || !again_inner(pair, r))
			break;
	}
	return from - k;
}

#endif

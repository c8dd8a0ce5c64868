/*
 * Compares a pair with all kinds of accesses at a granule, or an access with all kinds of pairs:
 * one comparison for many threads (history_kinds.c).
 */
#include "analyze/atomicity/atomicity.h"

/*
 * Returns the number of kinds in the other list that are known to yield nothing new with this one;
 * NULL if the kind is not in its list.
 */
static uint8_t *compared_of(struct history_kinds *kinds, bool pair, uint32_t core)
{
	const uint32_t *list = history_kinds_list(kinds, pair);

	for (unsigned i = 0; i < kinds->count[pair]; i++)
		if (list[i] == core)
			return &history_kinds_compared(kinds, pair)[i];
	return NULL;
}

/*
 * True if all threads with lockset `x`, whatever its acquisition histories, are stopped at one site
 * for lockset `y`: right before the access, or at the outermost lock. `x` and `y` are cores.
 */
static bool same_section_for_all(const struct atomicity *a, uint32_t x, uint32_t y)
{
	return !x || !y || locks_needed(a->locks, x, y) == 0;
}

/* True if the candidate of this triple of cores is reported and saturated. */
static bool is_saturated(struct atomicity *a, uint32_t shape, uint32_t signature,
			 struct triple_verdict *v, bool maybe_seen, struct findings *out)
{
	const struct history_signature *signatures = a->history.signatures;
	uint32_t p = signatures[a->history.shapes[shape].p].lockset,
		 r = signatures[signature].lockset;
	uint32_t i = signatures[a->history.shapes[shape].i].lockset;

	if (!v->for_all_cores) {
		if (!same_section_for_all(a, p, r) || !same_section_for_all(a, r, p) ||
		    !same_section_for_all(a, i, r))
			return false;
		atomicity_find_reported(a, shape, signature, v);
		v->for_all_cores = v->reported != 0;
	}
	return dedupe_is_saturated(&a->dedupe, v->reported, maybe_seen, out);
}

bool atomicity_nothing_new(struct atomicity *a, struct history_kinds *kinds, uint32_t shape,
			   uint32_t signature, bool maybe_seen, struct findings *out)
{
	uint64_t pruned[PRUNE_REASONS] = { 0 };
	bool pair = shape != 0;
	const uint32_t *list;
	struct triple_verdict *v;
	uint8_t *compared;
	unsigned i;

	shape = a->history.shapes[shape].core;
	signature = a->history.signatures[signature].core;
	compared = compared_of(kinds, pair, pair ? shape : signature);
	if (!compared)
		return false;
	list = history_kinds_list(kinds, !pair);
	for (i = maybe_seen ? 0 : *compared; i < kinds->count[!pair]; i++) {
		uint32_t s = pair ? shape : list[i], w = pair ? list[i] : signature;

		v = atomicity_verdict(a, s, w);
		if (v->pattern == PATTERN_NONE)
			continue;
		if (v->why != PRUNE_REASONS)
			pruned[v->why] += i >= *compared;
		else if (!is_saturated(a, s, w, v, maybe_seen, out))
			break;
	}
	for (unsigned k = 0; k < PRUNE_REASONS; k++)
		a->pruned[k] += pruned[k];
	*compared = i > *compared ? (uint8_t)i : *compared;
	return i == kinds->count[!pair];
}

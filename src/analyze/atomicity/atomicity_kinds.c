/*
 * A pair, or an access, against all kinds of what was done to a location, where threads are many.
 */
#include "analyze/atomicity/atomicity.h"

/* So many of what this kind may meet are known to be of no interest. */
static uint8_t *done_of(struct history_kinds *kinds, bool pair, uint32_t core)
{
	const uint32_t *list = history_kinds_list(kinds, pair);

	for (unsigned i = 0; i < kinds->count[pair]; i++)
		if (list[i] == core)
			return &history_kinds_done(kinds, pair)[i];
	return NULL;
}

/*
 * The section that is moved before `a` if `b` is to come first is the same whatever the
 * acquisition histories.
 */
static bool sure_of(const struct atomicity *a, uint32_t x, uint32_t y)
{
	return !x || !y || locks_needed(a->locks, x, y) == 0;
}

/* What this verdict, on cores, would tell was told often enough. */
static bool enough(struct atomicity *a, uint32_t shape, uint32_t what, struct verdict *v, bool shown,
		   struct findings *out)
{
	const struct history_what *whats = a->history.whats;
	uint32_t p = whats[a->history.shapes[shape].p].lockset, r = whats[what].lockset;
	uint32_t i = whats[a->history.shapes[shape].i].lockset;

	if (!v->sure) {
		if (!sure_of(a, p, r) || !sure_of(a, r, p) || !sure_of(a, i, r))
			return false;
		atomicity_look(a, shape, what, v);
		v->sure = v->told != 0;
	}
	return told_enough(&a->told, v->told, shown, out);
}

bool atomicity_none_among(struct atomicity *a, struct history_kinds *kinds, uint32_t shape, uint32_t what,
			  bool shown, struct findings *out)
{
	uint64_t pruned[PRUNE_REASONS] = { 0 };
	bool pair = shape != 0;
	const uint32_t *list;
	struct verdict *v;
	uint8_t *done;
	unsigned i;

	shape = a->history.shapes[shape].core;
	what = a->history.whats[what].core;
	done = done_of(kinds, pair, pair ? shape : what);
	if (!done)
		return false;
	list = history_kinds_list(kinds, !pair);
	for (i = shown ? 0 : *done; i < kinds->count[!pair]; i++) {
		uint32_t s = pair ? shape : list[i], w = pair ? list[i] : what;

		v = verdict_of(a, s, w);
		if (v->pattern == PATTERN_NONE)
			continue;
		if (v->why != PRUNE_REASONS)
			pruned[v->why] += i >= *done;
		else if (!enough(a, s, w, v, shown, out))
			break;
	}
	for (unsigned k = 0; k < PRUNE_REASONS; k++)
		a->pruned[k] += pruned[k];
	*done = i > *done ? (uint8_t)i : *done;
	return i == kinds->count[!pair];
}

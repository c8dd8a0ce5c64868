/*
 * Why a run failed: from the candidate that it was made for to the order of events that is
 * reported. The candidates are weighed in this order:
 *
 *   1. what the trace of a replay shows: the likeliest of the predicted orders that it has, or a
 *      free before a use (explain.c, use_after_free.c)
 *   2. the candidate the run was made for, unless 1 is the same order or contains it
 *   3. an order that the candidate is only a part of, by making runs with each (rank_causes.h)
 *   4. what the trace of the run before it was made small shows
 */
#ifndef EXPLORE_BUG_CAUSE_H
#define EXPLORE_BUG_CAUSE_H

#include "explore/bug/bug.h"
#include "explore/search/attempt.h"

/* Where predicted orders come from. */
struct cause_source {
	/* The likeliest first; may run the program a few times more. NULL: there are none, as without a hunt. */
	const struct leads *(*leads)(void *ctx);
	void *ctx;
};

struct cause_config {
	const struct cause_source *source;
	const struct replay_config *replay;
	struct attempt *attempt;	/* to make runs with; NULL: none can be made */
	double seconds;		/* for these runs; 0: no limit */
	const char *scratch;	/* a folder for traces */
	struct places *places;
};

/*
 * Finds the cause of a bug that is proved and has its trace, and begins its interleavings with it.
 * `tried`: the candidate the run was made for, or NULL. `first`: the schedule it was made small
 * from, which gets its checks; NULL: it was not made smaller.
 */
void cause_find(struct bug *b, const struct lead *tried, struct schedule *first, const struct cause_config *c);

/*
 * Whether all events of the cause are suppressed. If the cause is not known, one more replay finds
 * it; the bug keeps it, but not if there is no source of predicted orders.
 */
bool cause_is_suppressed(struct bug *b, const struct suppressions *s, const struct cause_config *c);

#endif

/*
 * Finds the cause of a proved failure: the order of events that made the run fail. Sources, in the
 * order in which they are asked:
 *
 *   1. the trace of a replay: its likeliest order (leads_explain()), or the free before a use after
 *      free
 *   2. the candidate that the run was made for. It goes before order 1, unless order 1 breaks the
 *      atomicity of one variable and contains the candidate's order
 *   3. an order that the candidate is only a part of; directed runs show that (rank_causes.h)
 *   4. the trace of the failing run before its switches were minimised, if 1 to 3 found nothing
 */
#ifndef EXPLORE_BUG_CAUSE_H
#define EXPLORE_BUG_CAUSE_H

#include "explore/bug/bug.h"
#include "explore/search/attempt.h"

/* Provides the orders that a hunt predicted. */
struct cause_source {
	/*
	 * Returns them, the likeliest first. The callback may make runs of the program. NULL
	 * callback: no orders were predicted, as in snarl test.
	 */
	const struct leads *(*leads)(void *ctx);
	void *ctx;
};

struct cause_config {
	const struct cause_source *source;
	const struct replay_config *replay;
	struct attempt *attempt;	/* makes directed runs; NULL: none can be made */
	double seconds;		/* limit for these runs; 0: no limit */
	const char *scratch;	/* folder for temporary traces */
	struct places *places;
};

/*
 * Finds the cause of a bug that is proved and has its trace. Makes the cause the first of
 * bug->interleavings. `tried`: the candidate that the run was made for, or NULL. `first`: the
 * schedule before minimisation, which gets its checks; NULL: nothing was minimised.
 */
void cause_find(struct bug *b, const struct lead *tried, struct schedule *first,
		const struct cause_config *c);

/*
 * True if suppressions cover all events of the cause. If the cause is not known, records one more
 * replay and looks for it there. The bug keeps that cause in a hunt; snarl test reports no causes.
 */
bool cause_is_suppressed(struct bug *b, const struct suppressions *s, const struct cause_config *c);

#endif

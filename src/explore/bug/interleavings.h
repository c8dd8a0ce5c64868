/*
 * All orders of events by which one bug fails. Each candidate with the same cause is tried in a few
 * directed runs. Its order is kept if
 *
 *   - a run fails and still has the order after its switches were minimised,
 *   - the trace of that run shows no order that is kept already, nor another cause, and
 *   - all replays fail.
 *
 * Two orders are the same if one implies the other (same_cause.h).
 */
#ifndef EXPLORE_BUG_INTERLEAVINGS_H
#define EXPLORE_BUG_INTERLEAVINGS_H

#include "explore/bug/minimise.h"
#include "explore/lead/lead.h"
#include "explore/search/attempt.h"
#include "explore/search/failure.h"

/* Limits for one bug: they bound time and the size of reports. */
#define INTERLEAVINGS_MAX 64u		/* orders that are kept */
#define INTERLEAVINGS_TRIED 200u	/* candidates that are tried, the likeliest first */
#define INTERLEAVINGS_RUNS 10000u	/* runs for all candidates */

struct interleaving {
	struct lead *lead;		/* the order; owned */
	struct search_failure *failure;	/* run that failed in it; NULL: the bug's own; owned */
	struct minimised minimised;
	unsigned good, replays;		/* replays that failed as the run did; all replays */
};

struct interleavings {
	struct interleaving *at;
	size_t count, capacity;
	unsigned tried;			/* number of candidates tried */
	unsigned runs;			/* number of runs made to try them, replays included */
};

void interleavings_free(struct interleavings *l);

/* Adds a copy of the bug's cause as the first order. */
void interleavings_begin(struct interleavings *l, const struct lead *cause);

struct interleavings_config {
	struct attempt *attempts;	/* makes the runs; its limits are for all candidates */
	const struct leads *leads;	/* the candidates */
	unsigned replays;	/* number of replays that prove an order */
	const char *scratch;	/* path of a temporary trace */
	struct places *places;
};

/*
 * Tries the leads that have the same cause as the first order and adds those that fail. `like`: any
 * failure of the program. -1 if the program cannot be run any more; orders found before stay.
 */
int interleavings_gather(struct interleavings *l, const struct search_failure *like,
			 const struct interleavings_config *config);

#endif

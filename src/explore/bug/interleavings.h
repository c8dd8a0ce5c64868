/*
 * All orders of events that make up one bug: the candidates about the same, each tried,
 * and kept if the run fails and replays, has the order also when all switches it does
 * not need are left out, and has none of those that are known already. Two are the same if
 * one wants the orders of the other, by operations and lines.
 */
#ifndef EXPLORE_BUG_INTERLEAVINGS_H
#define EXPLORE_BUG_INTERLEAVINGS_H

#include "explore/bug/minimise.h"
#include "explore/lead/lead.h"
#include "explore/search/attempt.h"
#include "explore/search/failure.h"

#define INTERLEAVINGS_MAX 64u	/* kept of a bug */
#define INTERLEAVINGS_TRIED 200u	/* candidates that are tried, the likeliest first */
#define INTERLEAVINGS_RUNS 10000u	/* for all of them, at most */

struct interleaving {
	struct lead *lead;		/* owned */
	struct search_failure *failure;	/* owned; NULL: the bug's own */
	struct minimised minimised;
	unsigned good, replays;
};

struct interleavings {
	struct interleaving *at;
	size_t count, capacity;
	unsigned tried, runs;		/* candidates; runs made for all of that */
};

void interleavings_free(struct interleavings *l);

/* The bug's own; `cause` is copied. */
void interleavings_begin(struct interleavings *l, const struct lead *cause);

struct interleavings_config {
	struct attempt *attempts;	/* what it allows is for all of it */
	const struct leads *leads;
	unsigned replays;	/* that prove each */
	const char *scratch;	/* a file for traces; not there before, nor after */
	struct places *places;
};

/*
 * Tries what the leads have about the same as the first. `like`: a failure of the same
 * program. -1 if the program cannot be run any more; what was found stays.
 */
int interleavings_gather(struct interleavings *l, const struct search_failure *like,
			 const struct interleavings_config *config);

#endif

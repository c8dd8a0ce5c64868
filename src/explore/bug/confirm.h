/*
 * From a failure to a proved bug: minimise the schedule, prove it by replays, record a trace and
 * find the cause. If the bug is new: find the nearest run that passes, and all orders that fail.
 *
 *	confirm_open(&u, &config, failure);
 *	if (confirm_prove(&u, bug, failure, &code, &err))
 *		... save the bug if it is new, then ...
 *		confirm_find_passing(&u, bug), confirm_find_interleavings(&u, bug);
 *	confirm_close(&u);
 */
#ifndef EXPLORE_BUG_CONFIRM_H
#define EXPLORE_BUG_CONFIRM_H

#include "explore/bug/bug.h"
#include "explore/bug/cause.h"
#include "explore/search/attempt.h"

struct confirm_config {
	struct attempt_config attempt;
	unsigned replays;	/* number of replays that prove a failure */
	bool minimise;		/* minimise, compare and direct runs; false: only replay */
	const char *out;	/* folder for results */
	uint64_t runs;		/* --runs; all orders of one bug get a sixth of it; 0: no limit */
	struct deadline late;	/* of replays and trace: the grace after attempt.deadline */
	struct cause_source source;	/* orders that a hunt predicted */
	struct places *places;
};

/* Work on one failure. */
struct confirm {
	const struct confirm_config *config;
	struct attempt attempt;	/* makes runs like the failing one, by other plans */
	bool open;		/* `attempt` can make runs */
	struct cause_config cause;
	struct err err;		/* why not, if !open */
};

/* `f` is the failure that confirm_prove() will get. Call confirm_close() in any case. */
void confirm_open(struct confirm *u, const struct confirm_config *config,
		  const struct search_failure *f);
void confirm_close(struct confirm *u);

/*
 * Minimises `f`, replays it, records it and finds its cause. *b owns `f` afterwards and is all zero
 * before. True if all replays failed alike. *code is -1 if the folder for the trace cannot be made,
 * else 0.
 */
bool confirm_prove(struct confirm *u, struct bug *b, struct search_failure *f, int *code,
		   struct err *err);

/*
 * For a bug that is saved: finds and records the nearest run that passes (nearest_passing.h), or
 * all orders that fail (interleavings.h). Writes passing.snarl; bug_update() writes the rest.
 */
void confirm_find_passing(struct confirm *u, struct bug *b);
void confirm_find_interleavings(struct confirm *u, struct bug *b);

#endif

/*
 * What comes after a failure was found: make it small, prove it by replays, find its
 * cause; then, if it is a bug of its own, all orders that lead to it.
 *
 *	confirm_open(&f, &config);
 *	if (confirm_prove(&f, bug, failure, &code, &err)) … confirm_find_interleavings(&f, bug); …
 *	confirm_close(&f);
 */
#ifndef EXPLORE_BUG_CONFIRM_H
#define EXPLORE_BUG_CONFIRM_H

#include "explore/bug/bug.h"
#include "explore/bug/cause.h"
#include "explore/search/attempt.h"

struct confirm_config {
	struct attempt_config attempt;
	unsigned replays;	/* that prove it */
	bool minimise;
	const char *out;	/* folder for results */
	uint64_t runs;		/* the budget of the search, of which a part may be spent here; 0: none */
	double seconds;		/* … in time; 0: none */
	struct cause_source source;	/* of predicted orders */
	struct places *places;
};

struct confirm {
	const struct confirm_config *config;
	struct attempt attempt;
	bool open;		/* attempts can be made */
	struct cause_config cause;
	struct err err;		/* of them */
};

/* For one failure, which becomes `bug` (all zero before). Close it in any case. */
void confirm_open(struct confirm *u, const struct confirm_config *config,
		   const struct search_failure *f);
void confirm_close(struct confirm *u);

/* Takes over `f`. True if it is proved; *code -1: but its trace has no place to go to. */
bool confirm_prove(struct confirm *u, struct bug *b, struct search_failure *f, int *code,
		    struct err *err);

/*
 * A bug that is saved: the nearest run that passes, and its interleavings. They are saved by
 * bug_update(), but for the trace of the first.
 */
void confirm_find_passing(struct confirm *u, struct bug *b);
void confirm_find_interleavings(struct confirm *u, struct bug *b);

#endif

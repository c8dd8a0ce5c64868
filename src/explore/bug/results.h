/*
 * The failures of a session, in the order found: proved bugs, and failures that did not replay.
 */
#ifndef EXPLORE_BUG_RESULTS_H
#define EXPLORE_BUG_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "explore/bug/bug.h"

struct results {
	struct {
		struct bug *bug;	/* owned */
		bool proved;
	} *items;
	size_t count, capacity;
	size_t proved;		/* number of items that are proved */
	size_t suppressed;	/* number of suppressed failures, which are not among the items */
};

/* Adds a bug, which `r` owns from now on. */
void results_add(struct results *r, struct bug *b, bool proved);
void results_free(struct results *r);

/* Writes the member "bugs" of results.json: all proved bugs. */
void results_bugs_json(const struct results *r, struct json *j, struct places *places);

#endif

/*
 * The failures that a session keeps, in the order found.
 */
#ifndef EXPLORE_BUG_RESULTS_H
#define EXPLORE_BUG_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "explore/bug/bug.h"

struct results {
	struct {
		struct bug *bug;
		bool proved;
	} *items;
	size_t count, capacity, proved;
	size_t suppressed;	/* failures that are not reported; not among the items */
};

/* Takes over the bug. */
void results_add(struct results *r, struct bug *b, bool proved);
void results_free(struct results *r);

/* The member "bugs" of results.json: those that are proved. */
void results_bugs_json(const struct results *r, struct json *j, struct places *places);

#endif

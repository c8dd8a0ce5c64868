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
	size_t proved;		/* number of items that are proved; the others are findings */
	size_t suppressed;	/* number of suppressed failures, which are not among the items */
};

/*
 * Adds a bug, which `r` owns from now on. A proved one removes findings with its symptom. A finding
 * with the symptom of another item is counted there and freed: returns the item that has it.
 */
const struct bug *results_add(struct results *r, struct bug *b, bool proved, struct places *places);

/* The item, proved or not, that has the symptom of a failure; NULL: none. */
struct bug *results_find(const struct results *r, const struct oracle_result *symptom,
			 struct places *places);
void results_free(struct results *r);

/* Writes the members "bugs" of results.json, all proved bugs, and "findings". */
void results_bugs_json(const struct results *r, struct json *j, struct places *places);

#endif

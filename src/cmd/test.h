/*
 * What snarl test or snarl hunt has found, as results.json.
 */
#ifndef CMD_TEST_H
#define CMD_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include "explore/bug/bug.h"
#include "explore/hunt/hunt.h"
#include "explore/search/search.h"

struct test_results {
	struct {
		struct bug *bug;
		bool proved;
	} *items;
	size_t count, capacity, proved;
	size_t suppressed;	/* failures that were not to be told; not among the items */
	const struct baseline *baseline;	/* what they were compared with, or NULL */
};

/* Takes over the bug. */
void test_results_add(struct test_results *r, struct bug *b, bool proved);
void test_results_free(struct test_results *r);

/* To `out`/results.json, if that folder can be made, and to stdout if wanted. `hunt` may be NULL. */
int test_results_write(const struct test_results *r, const char *out, const struct target *target,
		       const struct search_stats *stats, const struct hunt_stats *hunt,
		       struct places *places, bool to_stdout, struct err *err);

/* Parts of it: members "bugs" and "candidates" (hunt may be NULL). */
void test_results_bugs(const struct test_results *r, struct json *j, struct places *places);
void test_results_candidates(const struct hunt_stats *h, struct json *j, struct places *places);

#endif

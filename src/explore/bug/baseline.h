/*
 * An earlier results.json to compare with: which bugs are new, which are gone.
 * What makes two bugs one is in explore/bug/identity.h.
 */
#ifndef EXPLORE_BUG_BASELINE_H
#define EXPLORE_BUG_BASELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "explore/bug/bug.h"

struct baseline;

/* NULL: *err says why. */
struct baseline *baseline_read(const char *path, struct err *err);
void baseline_free(struct baseline *l);	/* NULL is allowed */

/*
 * A bug that was proved: its number in the baseline; NULL: it is new. baseline_set_id() gives the
 * last bug that was looked for the number it was saved by.
 */
const char *baseline_find(struct baseline *l, const struct bug *b, struct places *places);
void baseline_set_id(struct baseline *l, const char *id);

struct baseline_counts {
	const char *path;	/* of the baseline */
	size_t fresh, known;	/* bugs that were looked for */
	size_t gone;		/* bugs of the baseline that were not found again */
};

struct baseline_counts baseline_count(const struct baseline *l);

/* The next bug that was not found again, after *at, which is 0 at first. False: there is none. */
bool baseline_gone(const struct baseline *l, size_t *at, const char **id, const char **description);

/* The member "baseline" of results.json. */
void baseline_json(const struct baseline *l, struct json *j);

/*
 * Lines of a suppression file, one for each site or variable of the bug that has to match; a
 * remark if there is nothing that could match.
 */
void baseline_suppressions(const struct bug *b, struct places *places, struct buf *out);

#endif

/*
 * Compares the bugs of a session with those of an earlier results.json: which are new, which are
 * gone. Two bugs are one if their identities are equal (identity.h).
 */
#ifndef EXPLORE_BUG_BASELINE_H
#define EXPLORE_BUG_BASELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "explore/bug/bug.h"

struct baseline;

/* Reads an earlier results.json; NULL: *err says why not. */
struct baseline *baseline_read(const char *path, struct err *err);
void baseline_free(struct baseline *l);	/* NULL is allowed */

/*
 * Looks up a proved bug. Returns its id in the baseline; NULL: the bug is new. After the bug was
 * saved, baseline_set_id() stores the id under which this session saved it.
 */
const char *baseline_find(struct baseline *l, const struct bug *b, struct places *places);
void baseline_set_id(struct baseline *l, const char *id);

struct baseline_counts {
	const char *path;	/* file of the baseline */
	size_t fresh, known;	/* bugs of this session that the baseline does not have, and has */
	size_t gone;		/* bugs of the baseline that this session did not find */
};

struct baseline_counts baseline_count(const struct baseline *l);

/*
 * Iterates over the bugs of the baseline that this session did not find: *at is 0 at first. Sets id
 * and description of the next one; false: there is none.
 */
bool baseline_gone(const struct baseline *l, size_t *at, const char **id,
		   const char **description);

/* Writes the member "baseline" of results.json. */
void baseline_json(const struct baseline *l, struct json *j);

/*
 * Appends lines for a suppression file that cover the bug, one for each of its sites or variables;
 * a comment if no line can cover it.
 */
void baseline_suppressions(const struct bug *b, struct places *places, struct buf *out);

#endif

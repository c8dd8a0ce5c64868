/*
 * An earlier results.json to compare with: which bugs are new, which are gone.
 * What makes two bugs one is in explore/bug/identity.h.
 */
#ifndef CMD_BASELINE_H
#define CMD_BASELINE_H

#include <stdio.h>

#include "base/err.h"
#include "base/json.h"
#include "explore/bug/bug.h"

struct baseline;

/* NULL: *err says why. */
struct baseline *baseline_read(const char *path, struct err *err);
void baseline_free(struct baseline *l);	/* NULL is allowed */

/* A bug that was proved and has its number. Its number in the baseline; NULL: it is new. */
const char *baseline_find(struct baseline *l, const struct bug *b, struct places *places);

/* How many of those asked for were new. */
size_t baseline_new(const struct baseline *l);

/* In a few lines: counts, and those that were not asked for. */
void baseline_tell(const struct baseline *l, FILE *to);

/* The member "baseline" of results.json. */
void baseline_json(const struct baseline *l, struct json *j);

/*
 * --gen-suppressions: a line of a suppression file for each place or variable of the bug that
 * has to match; a remark if there is nothing that could.
 */
void baseline_suppressions(const struct bug *b, struct places *places, FILE *to);

#endif

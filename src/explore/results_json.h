/*
 * The results of a session as results.json (docs/test.md, docs/hunt.md).
 */
#ifndef EXPLORE_RESULTS_JSON_H
#define EXPLORE_RESULTS_JSON_H

#include "base/json.h"
#include "explore/session.h"

/* Appends the whole text of results.json. */
void results_json(const struct session *s, struct buf *out);

/* Writes the text to the file results.json in the folder `out`, which is made if necessary. */
int results_save(const struct buf *text, const char *out, struct err *err);

/* Writes the member "candidates". `h` NULL: an empty one. `places` NULL: only counts, no list. */
void results_candidates_json(const struct hunt_stats *h, struct json *j, struct places *places);

#endif

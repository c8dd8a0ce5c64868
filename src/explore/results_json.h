/*
 * What a session has found, as results.json.
 */
#ifndef EXPLORE_RESULTS_JSON_H
#define EXPLORE_RESULTS_JSON_H

#include "base/json.h"
#include "explore/session.h"

/* The whole file. */
void results_json(const struct session *s, struct buf *out);

/* The text becomes `out`/results.json; the folder is made. */
int results_save(const struct buf *text, const char *out, struct err *err);

/* The member "candidates". `h` may be NULL; without `places` there is no list of them. */
void results_candidates_json(const struct hunt_stats *h, struct json *j, struct places *places);

#endif

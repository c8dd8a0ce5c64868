/*
 * Findings: failures of runs that did not replay. A finding is no bug, since nothing shows that the
 * interleaving is to blame. It says what differs between runs of one schedule, and which call may
 * have brought the difference in.
 */
#ifndef EXPLORE_BUG_FINDING_H
#define EXPLORE_BUG_FINDING_H

#include "explore/bug/bug.h"

/*
 * Replays the schedule of `b` until a replay differs from the one before it, a few times. Sets
 * b->divergence and b->outside. Does nothing after a replay that did not end in time.
 */
void finding_investigate(struct bug *b, const struct replay_config *config, struct places *places);

/* Appends lines that say what finding_investigate() found; each is indented. */
void finding_describe(const struct bug *b, struct places *places, struct buf *out);

/* Writes the members of a finding in results.json. */
void finding_json(const struct bug *b, struct json *j, struct places *places);

#endif

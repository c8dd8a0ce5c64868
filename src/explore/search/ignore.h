/*
 * Failures that count as passing: those that the user named by --ignore, and those that every run
 * shows, so that they do not hide others.
 */
#ifndef EXPLORE_SEARCH_IGNORE_H
#define EXPLORE_SEARCH_IGNORE_H

#include "base/map.h"
#include "explore/search/fingerprint.h"

struct ignore {
	char (*items)[FINGERPRINT_SIZE];
	size_t count, capacity;
	struct places *places;	/* for fingerprints; not owned */
	struct map known;	/* signature of a failure -> whether it is ignored */
};

void ignore_add(struct ignore *g, const char *fingerprint);
void ignore_free(struct ignore *g);

/* Whether a failed run counts as passing. `r` has its signature, and is not refined. */
bool ignore_matches(struct ignore *g, const struct oracle_result *r,
		    const struct ctl_report *report);

#endif

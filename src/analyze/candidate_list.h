/*
 * From findings to what is tried, in which order, and together with what.
 *
 *   prune_list()  drops what cannot be, or is the same as another, and counts why
 *   rank_list()   scores the rest, likely harmful first
 *   group_list()  puts candidates that do not overlap in time into one run
 */
#ifndef ANALYZE_CANDIDATE_LIST_H
#define ANALYZE_CANDIDATE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/candidate.h"

enum drop_reason {
	DROP_SEEN,		/* the order wanted is the one that passed */
	DROP_IMPOSSIBLE,	/* the orders contradict each other or a thread's own order */
	DROP_SAME,		/* another candidate wants the same of the same events */
	DROP_REASONS
};

struct hunt_list {
	struct candidate **at;	/* of the findings, which must stay as they are */
	size_t count;
	uint64_t predicted;	/* before: with what the analyses dropped themselves */
	uint64_t dropped[DROP_REASONS];
	uint64_t doubtful;	/* of those in the list; they come late */
};

/* Happened in the run itself, and needs no other one to be told. */
static inline bool candidate_is_result(const struct candidate *c)
{
	return c->seen && (c->class == CANDIDATE_MISUSE || c->class == CANDIDATE_DEADLOCK);
}

/*
 * `total`: the trace's order is total (TRACE_TOTAL_ORDER). If not, what seems to have
 * been seen may have been the other way round, and stays.
 */
void prune_list(struct findings *f, bool total, struct hunt_list *out);
void hunt_list_free(struct hunt_list *l);

/* What else is known; every member may be NULL. */
struct rank_hints {
	void *ctx;
	/* How often this order was tried before without harm. */
	unsigned (*tested)(void *ctx, const struct candidate *c);
	/* An assertion or other oracle is in the event's function, or what it was called from. */
	bool (*near_oracle)(void *ctx, const struct candidate_event *e);
};

/* Sets the scores and sorts by them; equal ones by time and site, so always the same way. */
void rank_list(struct hunt_list *l, const struct rank_hints *hints);

struct hunt_group {
	size_t *member;		/* in hunt_list.at, by time: the order in which they come up */
	size_t count;
};

struct hunt_groups {
	struct hunt_group *at;	/* the one with the best candidate first */
	size_t count;
};

/* No group has more than `most` members (at least 1). Results are in none. */
void group_list(const struct hunt_list *l, size_t most, struct hunt_groups *out);
void hunt_groups_free(struct hunt_groups *g);

#endif

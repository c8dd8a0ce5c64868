/*
 * From findings to the list of candidates that hunting tries.
 *
 *   prune_list()  drops candidates that are impossible, redundant or seen, and counts why
 *   rank_list()   sorts the rest, likely harmful first
 *   group_list()  groups candidates that do not overlap in time, to be tried in one run
 */
#ifndef ANALYZE_CANDIDATE_LIST_H
#define ANALYZE_CANDIDATE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/candidate.h"

enum drop_reason {
	DROP_SEEN,		/* the trace, of a run that passed, has the wanted order */
	DROP_IMPOSSIBLE,	/* the orders contradict each other or a thread's own order */
	DROP_SAME,		/* another candidate wants the same orders of the same sites */
	DROP_REASONS
};

struct hunt_list {
	struct candidate **at;	/* point into the findings, which must not change */
	size_t count;
	uint64_t predicted;	/* candidates before pruning, and those that analyses pruned */
	uint64_t dropped[DROP_REASONS];
	uint64_t doubtful;	/* number of doubtful ones in the list */
};

/* Whether the traced run itself showed the bug: then it is reported without being tried. */
static inline bool candidate_is_result(const struct candidate *c)
{
	return c->seen && (c->class == CANDIDATE_MISUSE || c->class == CANDIDATE_DEADLOCK);
}

/*
 * Fills `out`. `total`: the trace has a total order (TRACE_TOTAL_ORDER). Without it, candidates
 * marked as seen are kept, since the order of the trace may not be that of the run.
 */
void prune_list(struct findings *f, bool total, struct hunt_list *out);
void hunt_list_free(struct hunt_list *l);

/* Further knowledge for the ranking; every member may be NULL. */
struct rank_hints {
	void *ctx;
	/* Number of earlier runs that had this order without harm. */
	unsigned (*tested)(void *ctx, const struct candidate *c);
	/* Whether the event's function or a caller contains an assertion or another oracle. */
	bool (*near_oracle)(void *ctx, const struct candidate_event *e);
};

/* Sets the scores and sorts by them. Ties are broken, so that the result is deterministic. */
void rank_list(struct hunt_list *l, const struct rank_hints *hints);

/*
 * For readers instead of for hunting: fills `out` with all findings, those worth reading first.
 * Gives those that repeat or contradict a better one a doubt; candidates with a doubt come last.
 * `named`: whether the candidate's variable has a name.
 */
void rank_for_readers(struct findings *f, bool (*named)(void *ctx, const struct candidate *c),
		      void *ctx, struct hunt_list *out);

/* Of prune.c: whether the orders contradict each other, and a hash of them by threads and sites. */
bool candidate_is_impossible(const struct candidate *c);
uint64_t candidate_hash_orders(const struct candidate *c);

struct hunt_group {
	size_t *member;		/* indices in hunt_list.at, in the order of their times */
	size_t count;
};

struct hunt_groups {
	struct hunt_group *at;	/* the group with the best candidate first */
	size_t count;
};

/* Makes groups of 1 to `most` members. Leaves out candidates for which candidate_is_result(). */
void group_list(const struct hunt_list *l, size_t most, struct hunt_groups *out);
void hunt_groups_free(struct hunt_groups *g);

#endif

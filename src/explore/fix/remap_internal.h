/*
 * What the parts of refit share.
 */
#ifndef EXPLORE_FIX_REMAP_INTERNAL_H
#define EXPLORE_FIX_REMAP_INTERNAL_H

#include <string.h>

#include "explore/fix/remap.h"

/* Where a thread does what an old event did: one of its events there. */
struct counterpart {
	uint32_t id;
	char *thread;
	uint64_t pc, count;	/* how often the thread was there so far */
	bool moved, has_event, nth_reached;	/* another function; there is an event; the n-th or a later one */
	bool other_part;		/* another part of the object: its members may have moved */
	bool extrapolated;		/* no run came there like that: its index is that of another event */
	double distance;
	struct candidate_event event;
	char *object;
	struct remap_lock locks[REMAP_LOCKS];	/* their objects are owned */
	size_t lock_count;
};

struct remap_event {
	const struct schedule_event *old;
	int kind;		/* -1: not known */
	struct counterpart *counterparts;	/* in this trace */
	size_t counterpart_count, counterpart_capacity;
	bool exact_object;		/* a run did it to the very part of the object */
	bool function_ran;		/* something in its function was, in any trace */
	bool seen_in_function;		/* … and it does there what the event did */
	bool seen_in_thread;	/* … in the same thread */
};

static inline bool remap_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void remap_free_counterparts(struct remap_event *e);

#endif

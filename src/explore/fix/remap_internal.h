/*
 * What the parts of remap share: counterparts of old events. remap.c collects them,
 * remap_assign.c chooses among them.
 */
#ifndef EXPLORE_FIX_REMAP_INTERNAL_H
#define EXPLORE_FIX_REMAP_INTERNAL_H

#include <string.h>

#include "explore/fix/remap.h"

/*
 * One thread at one pc in a trace of the new build, where it does what an old event did; and the
 * one of its visits that corresponds to the old event best.
 */
struct counterpart {
	uint32_t id;		/* of the thread, in this trace */
	char *thread;		/* its path */
	uint64_t pc;
	uint64_t count;		/* number of visits so far */
	bool moved;		/* `pc` is in another function than the old event */
	bool has_event;		/* `event` is set: a visit accessed a fitting object */
	bool nth_reached;	/* `event` is the n-th visit of the old event, or a later one */
	bool other_part;	/* `event` accesses another part of the object */
	bool extrapolated;	/* no run had this visit: event.index is that of another visit */
	double distance;	/* of `event` from the old event */
	struct candidate_event event;
	char *object;		/* name of what `event` accesses */
	struct remap_lock locks[REMAP_LOCKS];	/* held at `event`; names of objects are owned */
	size_t lock_count;
};

/* An event of the goals. */
struct remap_event {
	const struct schedule_event *old;
	int kind;			/* enum trace_kind; -1: not known */
	struct counterpart *counterparts;	/* in the current trace */
	size_t counterpart_count, counterpart_capacity;
	bool exact_object;		/* a run accessed the very part of the object */
	bool function_ran;		/* a run had an event in its function */
	bool seen_in_function;		/* a run had a counterpart in its function */
	bool seen_in_thread;		/* a run had a counterpart in its function and thread */
};

static inline bool remap_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void remap_free_counterparts(struct remap_event *e);

#endif

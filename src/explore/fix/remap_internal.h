/*
 * What the parts of refit share.
 */
#ifndef EXPLORE_FIX_REMAP_INTERNAL_H
#define EXPLORE_FIX_REMAP_INTERNAL_H

#include <string.h>

#include "explore/fix/remap.h"

/* Where a thread does what an old event did: one of its events there. */
struct spot {
	uint32_t id;
	char *thread;
	uint64_t pc, count;	/* how often the thread was there so far */
	bool moved, found, settled;	/* another function; there is an event; the n-th or a later one */
	bool elsewhere;		/* another part of the object: its members may have moved */
	bool imagined;		/* no run came there like that: its index is that of another event */
	double distance;
	struct candidate_event event;
	char *object;
	struct refit_lock locks[REFIT_LOCKS];	/* their objects are owned */
	size_t lock_count;
};

struct refit_event {
	const struct schedule_event *old;
	int kind;		/* -1: not known */
	struct spot *spots;	/* in this trace */
	size_t spot_count, spot_capacity;
	bool is_exact;		/* a run did it to the very part of the object */
	bool was_run;		/* something in its function was, in any trace */
	bool was_done;		/* … and it does there what the event did */
	bool was_done_by_it;	/* … in the same thread */
};

static inline bool refit_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void refit_forget_spots(struct refit_event *e);

#endif

/*
 * Inside the analysis of wake-ups: wakeups.c follows who waits and who wakes, with what
 * they did before; wakeups_judge.c compares them at the end.
 *
 * Bounded: of each thread the last RECENT accesses; for each condition SIDES_MAX waits
 * and signals that differ in thread or site, the newest of each.
 */
#ifndef ANALYZE_SYNC_LOST_WAKEUP_H
#define ANALYZE_SYNC_LOST_WAKEUP_H

#include "analyze/sync/blocked_waits.h"
#include "base/map.h"

#define RECENT 32u
#define SIDES_MAX 64u
#define STATE_MAX 12u
#define LOCKS_MAX 4u

struct touched {
	struct candidate_event at;
	bool read, write;
};

struct recent {
	struct touched at[RECENT];
	uint64_t count;
	size_t woken, wait;		/* the condition it was woken at, plus 1, and the wait; 0: long ago */
};

/* One side of a wake-up: a wait, or a signal. */
struct side {
	struct candidate_event at;
	uint64_t mutex;			/* wait: and when it was taken */
	uint64_t section_epoch;
	bool inside;
	struct candidate_event enter;	/* … the outermost section that it is in */
	struct {
		uint64_t lock, writes;	/* signal: granules written under it before such signals */
		uint64_t first;		/* where it was taken before this one, plus 1 */
	} under[LOCKS_MAX];
	uint64_t strong_epoch;
	struct vclock strong;
	struct touched state[STATE_MAX];	/* wait: in the section; signal: before it */
	size_t state_count;
	bool partial;			/* there was more than is known */
	bool woken, rechecks;		/* wait: ever; and then looked again under the mutex */
};

struct condition {
	struct side *waits, *wakes;
	size_t wait_count, wait_capacity, wake_count, wake_capacity;
};

struct wakeups {
	const struct analysis_context *ctx;
	const struct sections *sections;
	struct recent **threads;
	size_t thread_count;
	struct condition *conditions;
	size_t count, capacity;
	struct map at;			/* address -> 1 + number */
	uint64_t dropped;
};

static inline bool touched_overlap(const struct candidate_event *a, const struct candidate_event *b)
{
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

#endif

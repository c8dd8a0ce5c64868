/*
 * Waits on a condition that can miss their wake-up, or take a wrong one. A part of the analysis
 * `deadlock` (deadlock.c), which calls it for every event, before `sections` follows that event.
 *
 * lost_wakeup.c collects the waits and signals of each condition, with the state that their threads
 * accessed around them. lost_wakeup_judge.c compares each wait with each signal at the end.
 *
 * Bounded: the last RECENT_ACCESSES accesses of each thread; OPS_MAX waits and OPS_MAX signals of
 * each condition that differ in thread or site, with the newest instance of each.
 */
#ifndef ANALYZE_SYNC_LOST_WAKEUP_H
#define ANALYZE_SYNC_LOST_WAKEUP_H

#include "analyze/analysis.h"
#include "analyze/context/sections.h"
#include "base/map.h"

#define RECENT_ACCESSES 32u
#define OPS_MAX 64u
#define STATE_MAX 12u		/* accesses to shared state kept of a wait or signal */
#define LOCKS_MAX 4u		/* locks kept of a signal */

struct state_access {
	struct candidate_event at;
	bool read, write;
};

struct thread_accesses {
	struct state_access at[RECENT_ACCESSES];	/* a ring */
	uint64_t count;			/* accesses so far */
	/* 1 + index of the condition that woke the thread; 0 once it unlocks a mutex. */
	size_t woken;
	size_t wait;			/* index of its last wait in condition.waits */
};

/* A wait on a condition, or a signal. */
struct cond_op {
	struct candidate_event at;
	uint64_t mutex;			/* wait: the mutex it is called with */
	uint64_t section_epoch;		/* wait: strong epoch when the mutex was taken */
	bool in_section;		/* signal: in a critical section */
	struct candidate_event section;	/* acquisition: of `mutex`; signal: of the outermost lock */
	/* Signal: locks held now or in one of the last sections. */
	struct {
		uint64_t lock;
		/* section_granule() of writes under it, for all instances */
		uint64_t writes;
		uint64_t first;		/* 1 + event that took it last before this signal */
	} locks[LOCKS_MAX];
	uint64_t strong_epoch;
	struct vclock strong;
	/* Newest first. Wait: accesses in its section of `mutex`; signal: any before it. */
	struct state_access state[STATE_MAX];
	size_t state_count;
	bool partial;			/* some accesses did not fit */
	bool woken;			/* wait: it returned in some instance */
	bool rechecks;			/* wait: after it, its thread read the state again */
};

struct condition {
	struct cond_op *waits, *signals;
	size_t wait_count, wait_capacity, signal_count, signal_capacity;
};

struct lost_wakeups {
	const struct analysis_context *ctx;
	const struct sections *sections;
	struct thread_accesses **threads;	/* by id; NULL: no access */
	size_t thread_count;
	struct condition *conditions;
	size_t count, capacity;
	struct map at;			/* address -> 1 + index in conditions */
	uint64_t dropped;		/* waits and signals beyond OPS_MAX */
};

struct lost_wakeups *lost_wakeup_new(const struct analysis_context *ctx,
				     const struct sections *sections);
void lost_wakeup_free(struct lost_wakeups *w);
void lost_wakeup_event(struct lost_wakeups *w, const struct event *ev, const struct view *view);
void lost_wakeup_finish(struct lost_wakeups *w, struct findings *out);

static inline bool state_overlap(const struct candidate_event *a, const struct candidate_event *b)
{
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

#endif

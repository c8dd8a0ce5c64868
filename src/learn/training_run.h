/*
 * What one run teaches, from its trace: the folds of this folder over all of its events, and
 * which places may follow which in other runs.
 */
#ifndef LEARN_TRAINING_RUN_H
#define LEARN_TRAINING_RUN_H

#include "base/err.h"
#include "base/pause.h"
#include "learn/fold/avio.h"
#include "learn/fold/breakable_pairs.h"
#include "learn/fold/interleaved.h"
#include "learn/fold/lifetx.h"
#include "learn/fold/lock_sites.h"
#include "learn/fold/pset.h"
#include "trace/read/reader.h"

struct training_run {
	struct learn_sites sites;
	struct avio *avio;
	struct pset *pset;
	/*
	 * (P, M): in another run M may follow P immediately. Some time they touched the same
	 * memory, unordered by creation, join, barriers, conditions, semaphores; and by the locks
	 * held P may be the last access of a critical section, M the first of one.
	 */
	struct learn_pairs expected;
	struct breakable *breakable;	/* NULL: not wanted; so may be the next ones, and pset */
	/* Places that touched the same memory and conflict, unordered likewise: (A, B) and (B, A). */
	struct learn_pairs conflicts;
	struct learn_pairs races;	/* of these, those without a lock that excludes the two */
	/* Likewise of the places that take locks: turns.h; a pair is as if it were seen, or expected. */
	struct learn_pairs lock_seen, lock_expected;
	struct interleaved *interleaved;
	struct learn_pairs first, after;	/* (M, M) of accesses, locks, cancellations: unordered.h, cancels.h */
	struct lifetx *lifetx;	/* training_run_transactions(), and the next one */
	struct lock_sites *lock_sites;
	uint64_t lost;		/* what did not fit: pairs may be missing */
	uint64_t seed;		/* of what is looked at of a large run (learn/fold/sample.h) */
};

/* How much of a run is wanted. */
enum training_run_depth {
	TRAINING_RUN_DETECT,		/* what it broke apart and what followed what, in all of its memory */
	TRAINING_RUN_PROBE,		/* what it broke, and could have: `avio` and `apart` */
	TRAINING_RUN_FULL,		/* all but the transactions */
};

/*
 * -1 if the trace is damaged; free it in any case. Several threads may read at the same time, each its own
 * trace; they rest while `pause`, which may be NULL, is active.
 */
int training_run_read(struct training_run *run, struct reader *trace, unsigned granularity, enum training_run_depth depth,
		uint64_t seed, struct pause *pause, struct err *err);

/* `cuts`: known before, by site. */
int training_run_transactions(struct training_run *run, struct reader *trace, unsigned granularity, const uint8_t *cuts,
			struct err *err);

void training_run_free(struct training_run *run);

/* The steps of an event as the folds take them; returns how many (TRACE_STEPS at most). */
unsigned training_run_steps(struct learn_sites *sites, const struct event *ev, uint64_t at, struct learn_step *out);

#endif

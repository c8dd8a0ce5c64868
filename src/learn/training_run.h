/* Learns from one run: runs all folds of learn/fold over the events of its trace. */
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
	struct pset *pset;	/* NULL for a probe */
	/*
	 * (P, M): in another run M may immediately follow P of another thread. The two accessed the
	 * same memory, and creation, join, barriers, conditions and semaphores leave them
	 * unordered. By the locks held, P may be the last access of its critical section, and M the
	 * first of its own.
	 */
	struct learn_pairs expected;
	struct breakable *breakable;	/* NULL for TRAINING_RUN_DETECT */
	/* Pairs of conflicting sites that only locks may order: (A, B) and (B, A). */
	struct learn_pairs conflicts;
	struct learn_pairs races;	/* of `conflicts`, pairs that no common lock excludes */
	/*
	 * Pairs of sites that take the same lock (learn/fold/lock_predecessors.h), as in `pset`
	 * and `expected`.
	 */
	struct learn_pairs lock_seen, lock_expected;
	struct interleaved *interleaved;	/* NULL unless TRAINING_RUN_FULL */
	/*
	 * (M, M): sites that came first, or after another thread (unordered_sites.h,
	 * lock_predecessors.h, cancellation.h).
	 */
	struct learn_pairs first, after;
	struct lifetx *lifetx;	/* lifetx and lock_sites: made by training_run_transactions() */
	struct lock_sites *lock_sites;
	/* items that did not fit into the memory of a fold: pairs may be missing */
	uint64_t lost;
	uint64_t seed;		/* of the choice of memory in a large run (learn/fold/sample.h) */
};

/* Which folds training_run_read() runs. */
enum training_run_depth {
	/* broken invariants and predecessors, in all of its memory: `avio` and `pset` */
	TRAINING_RUN_DETECT,
	/* broken invariants and breakable pairs: `avio` and `breakable` */
	TRAINING_RUN_PROBE,
	TRAINING_RUN_FULL,		/* everything but the transactions */
};

/*
 * -1 if the trace is damaged. The caller frees *run in any case. Several threads may read at the
 * same time, each its own trace. They pause while `pause`, which may be NULL, is active.
 */
int training_run_read(struct training_run *run, struct reader *trace, unsigned granularity,
		      enum training_run_depth depth, uint64_t seed, struct pause *pause,
		      struct err *err);

/* `cuts`: by site, those already in the database. */
int training_run_transactions(struct training_run *run, struct reader *trace, unsigned granularity,
			      const uint8_t *cuts, struct err *err);

void training_run_free(struct training_run *run);

/* Turns an event into steps for the folds; returns their number (TRACE_STEPS at most). */
unsigned training_run_steps(struct learn_sites *sites, const struct event *ev, uint64_t at,
			    struct learn_step *out);

#endif

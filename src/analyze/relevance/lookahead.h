/*
 * Reads the events of a trace a few dozen ahead of the analyses.
 *
 * Reading ahead has two uses. Analyses prefetch their records of an access' memory ANALYSIS_AHEAD
 * events before they get the access. Plain accesses to memory that matters to no analysis
 * (unshared.h, ordered.h) are skipped: only their number is delivered, with the thread's next
 * event.
 */
#ifndef ANALYZE_RELEVANCE_LOOKAHEAD_H
#define ANALYZE_RELEVANCE_LOOKAHEAD_H

#include "analyze/analysis.h"
#include "analyze/context/spin_locks.h"
#include "analyze/relevance/unshared.h"

#define LOOKAHEAD_BATCH 24u	/* events per call of the reader */
#define LOOKAHEAD_RING 64u	/* events; a power of two, >= ANALYSIS_AHEAD + LOOKAHEAD_BATCH */

/* What the prescans found out about one event. */
struct lookahead_mark {
	uint64_t skipped;	/* plain accesses of its thread that were skipped right before it */
	bool unshared;		/* access to unshared memory; only if an analysis asks for it */
	bool ordered;		/* access to ordered memory (unshared.h) */
};

struct lookahead {
	struct event ring[LOOKAHEAD_RING];
	struct lookahead_mark marks[LOOKAHEAD_RING];
	size_t read, done;	/* number of events put into the ring, and of those delivered */
	size_t distance;	/* events that are read before one is delivered */
	uint64_t events, accesses;	/* read so far, including skipped ones */
	uint64_t stop_after;	/* number of events after which all others are irrelevant */
	uint64_t spin_ops;	/* atomics delivered as operations of a spin lock */
	int got;		/* result of the last call of the reader */
	struct err err;		/* valid if `got` is -1 */
	const struct analysis **prefetching;	/* analyses that prefetch; NULL ends the list */
	void **prefetch_states;	/* their states */
	const struct unshared *unshared;	/* NULL: nothing is known, or no analysis asks */
	uint32_t page;		/* of `unshared`, selected by `wanted`; UNSHARED_NO_PAGE: none */
	bool asks_unshared;	/* an analysis needs lookahead_mark.unshared */
	bool has_ordered;	/* the pass of ordered.h succeeded: `ordered` exceeds `unshared` */
	/* By page of `unshared`: granules whose plain accesses are delivered; NULL: all. */
	const struct granule_bits *relevant;
	struct reader_wanted wanted;	/* `relevant` as a filter for the reader */
	uint64_t *skipped;	/* by thread: accesses skipped since its last delivered event */
	size_t threads;		/* length of `skipped` */
	bool total;		/* lookahead_is_total() */
	struct spin_locks spins;
};

/*
 * Whether the trace has a total order of events. Event times are then replaced by positions, so
 * that results do not depend on how fast the recorded run was.
 */
bool lookahead_is_total(const struct reader *trace);

/* Serves the analyses `which` with their `states`. `unshared` may be NULL. */
void lookahead_open(struct lookahead *a, const struct reader *trace,
		    const struct unshared *unshared, const struct analysis *const *which,
		    void **states);
void lookahead_close(struct lookahead *a);

/* Counts the events of the whole trace; valid once lookahead_next() has returned NULL. */
void lookahead_count(const struct lookahead *a, struct analysis_stats *stats);

/* Fills the ring; called by lookahead_next(). */
void lookahead_fill(struct lookahead *a, struct reader *trace);

/* Returns the next event and sets *mark. NULL: end of the trace, or an error if a->got is -1. */
static inline const struct event *lookahead_next(struct lookahead *a, struct reader *trace,
						 const struct lookahead_mark **mark)
{
	if (a->read <= a->done + a->distance)
		lookahead_fill(a, trace);
	if (a->read == a->done)
		return NULL;
	*mark = &a->marks[a->done % LOOKAHEAD_RING];
	return &a->ring[a->done++ % LOOKAHEAD_RING];
}

#endif

/*
 * The events of a trace as analyses get them, read somewhat ahead, so that these can ask for
 * memory in time. Accesses that nobody wants to see are passed over here.
 */
#ifndef ANALYZE_RELEVANCE_LOOKAHEAD_H
#define ANALYZE_RELEVANCE_LOOKAHEAD_H

#include "analyze/analysis.h"
#include "analyze/context/spin_locks.h"
#include "analyze/relevance/unshared.h"

#define AHEAD_BATCH 24u	/* events read at once */
#define AHEAD_RING 64u	/* a power of two, not below ANALYSIS_AHEAD + AHEAD_BATCH */

/* Of an event. */
struct ahead_mark {
	uint64_t passed;	/* plain accesses of its thread before it that nobody wants */
	bool alone, settled;	/* an access, and alone.h says so, if somebody asks */
};

struct ahead {
	struct event ring[AHEAD_RING];
	struct ahead_mark marks[AHEAD_RING];
	size_t read, done;
	size_t distance;	/* so many are read before one is delivered */
	uint64_t events, accesses;	/* read so far, with those passed over */
	uint64_t end;		/* so many, and nobody wants more */
	uint64_t locks;		/* of the atomics among them, are told as operations of a lock */
	int got;		/* of the last reading */
	struct err err;		/* if that is -1 */
	const struct analysis **soon;	/* those who want to know, NULL ends it */
	void **soon_states;
	const struct alone *alone;	/* NULL: nobody asks, or nothing is */
	uint32_t page;		/* of `alone`, which `wanted` asked for last; ALONE_NONE: it has none */
	bool asks_alone;
	bool handed;		/* what is settled may not be alone */
	const struct alone_bits *skip;	/* by page: plain accesses to all else are passed over; NULL: none */
	struct reader_wanted wanted;	/* the same, as the reader asks for it */
	uint64_t *passed;	/* by thread, since its last event that was not passed over */
	size_t threads;
	bool total;
	struct spins spins;
};

/*
 * Where the order is total, times are positions in it, not those of a clock: what is found in
 * the trace of a run does not depend on how fast that was.
 */
bool ahead_is_total(const struct reader *trace);

/* For the analyses of `which` and their states. `alone` may be NULL. */
void ahead_open(struct ahead *a, const struct reader *trace, const struct alone *alone,
		const struct analysis *const *which, void **states);
void ahead_close(struct ahead *a);

/* What the trace has, once all is read that is wanted. */
void ahead_count(const struct ahead *a, struct analysis_stats *stats);

/* For ahead_next(). */
void ahead_fill(struct ahead *a, struct reader *trace);

/* The next event, *mark is of it; NULL at the end, a->got says which. */
static inline const struct event *ahead_next(struct ahead *a, struct reader *trace,
					     const struct ahead_mark **mark)
{
	if (a->read <= a->done + a->distance)
		ahead_fill(a, trace);
	if (a->read == a->done)
		return NULL;
	*mark = &a->marks[a->done % AHEAD_RING];
	return &a->ring[a->done++ % AHEAD_RING];
}

#endif

/*
 * Candidates: a few events of a trace and the order in which they would do harm. Analyses emit
 * them; pruning, ranking and proving consume them.
 */
#ifndef ANALYZE_CANDIDATE_H
#define ANALYZE_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/pattern.h"

#define CANDIDATE_EVENTS 32u	/* a lock cycle has two events for each thread: up to 16 threads */

/*
 * An event of the trace, identified by (thread, index). The name (thread, pc, nth) identifies it in
 * other runs, too.
 */
struct candidate_event {
	uint32_t thread;	/* trace id, from 1 */
	uint16_t kind;		/* enum trace_kind */
	uint16_t lockset_size;	/* number of locks held at it */
	uint64_t index;		/* among the thread's events, from 0 */
	uint64_t time;
	uint64_t addr, size;
	uint64_t pc;
	uint64_t nth;		/* number at this pc in this thread, from 1; 0: not counted */
	uint32_t lockset;	/* locksets.h: number of the set held at it */
	uint32_t stack;		/* call_stacks.h: number of the call stack; 0: unknown */
};

/* Event number `second` of a candidate is to come after number `first`. */
struct candidate_order {
	uint8_t first, second;
};

/* What a candidate rests on, the strongest last. */
enum candidate_evidence {
	EVIDENCE_PATTERN,	/* a pattern that locks and strong order allow */
	EVIDENCE_REORDERING,	/* a reordering of the trace that keeps all values read */
	EVIDENCE_UNORDERED,	/* nothing in the trace orders the two accesses */
};

struct candidate {
	enum candidate_class class;	/* of the pattern, unless that is PATTERN_NONE */
	enum pattern pattern;
	/*
	 * The trace has the wanted order already. If the run passed, hunting drops the candidate,
	 * except for the classes of candidate_is_result(); if it failed, this may be the cause.
	 */
	bool seen;
	bool spurious;		/* needs a spurious wake-up */
	bool doubtful;		/* values read on the way to its events seem to forbid the order */
	uint8_t events, orders;	/* number of entries in `event` and `order` */
	struct candidate_event event[CANDIDATE_EVENTS];
	struct candidate_order order[CANDIDATE_EVENTS];	/* to be enforced by a proving run */
	/*
	 * For each event: the index in `event` of the acquisition before which its thread has to
	 * be stopped; -1: right before the event itself. The former is needed if the thread holds a
	 * lock there that the other thread needs. Fill it with -1 first: 0 means event[0].
	 */
	int8_t hold[CANDIDATE_EVENTS];
	uint64_t addr, size;	/* the location, or the first of two */
	uint64_t addr2, size2;	/* the second location; 0: none */
	uint64_t count;		/* occurrences with the same sites and orders in the trace */
	double score;		/* rank.c: a higher one is tried earlier */
	enum candidate_evidence evidence;
	const char *doubt;	/* doubt.h: static text; NULL: none */
	const char *note;	/* static text: what may go wrong; NULL: the pattern's note */
};

/* Whether the harm is that another thread's access comes between two of one thread. */
static inline bool candidate_breaks_atomicity(const struct candidate *c)
{
	return c->class == CANDIDATE_ATOMICITY || c->class == CANDIDATE_ATOMICITY2;
}

/*
 * Whether a reader need not look at it. That no reordering of the trace shows a race says little
 * about other runs, so of races only candidate.doubt counts.
 */
static inline bool candidate_is_doubtful(const struct candidate *c)
{
	return c->doubt || (c->doubtful && c->class != CANDIDATE_RACE);
}

/* A list of candidates. Those with equal pattern, sites and orders are one entry with a count. */
struct findings;

struct findings *findings_new(void);
void findings_free(struct findings *f);

/*
 * Adds a copy, with class and note of the pattern, or counts an occurrence of an equal candidate.
 * Returns its entry, valid until the next call.
 */
struct candidate *findings_add(struct findings *f, const struct candidate *c);

size_t findings_count(const struct findings *f);
struct candidate *findings_at(struct findings *f, size_t i);

/* Removes those for which `gone` is true; returns their number. None may be added afterwards. */
size_t findings_remove(struct findings *f, bool (*gone)(void *ctx, const struct candidate *c),
		       void *ctx);

/* Statistics: why an analysis dropped a combination of events instead of adding a candidate. */
enum prune_reason {
	PRUNE_HB,		/* happens-before orders the events */
	PRUNE_LOCK,		/* a common lock forbids the order */
	PRUNE_HISTORY,		/* acquisition histories are incompatible */
	PRUNE_READS_FROM,	/* a value that was read shows that the events are ordered */
	PRUNE_SAME,		/* another candidate asks for the same schedule */
	PRUNE_REASONS,		/* their number; as a check's result: nothing forbids the order */
};

void findings_pruned(struct findings *f, enum prune_reason why, uint64_t count);
uint64_t findings_pruned_count(const struct findings *f, enum prune_reason why);

/* Records that an analysis dropped to bound memory; if not 0, candidates may be missing. */
void findings_dropped(struct findings *f, uint64_t count);
uint64_t findings_dropped_count(const struct findings *f);

#endif

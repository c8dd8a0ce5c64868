/*
 * What every analysis emits, and what pruning, ranking and proving consume: a few
 * events of a trace and the order in which they are to happen for harm to show.
 */
#ifndef ANALYZE_CANDIDATE_H
#define ANALYZE_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/pattern.h"

#define CANDIDATE_EVENTS 32u	/* a hold and a wait for each thread of a lock cycle */

/* An event by its place in the trace; its name (thread, site, n-th) besides. */
struct candidate_event {
	uint32_t thread;	/* trace id */
	uint16_t kind;		/* enum trace_kind */
	uint16_t lockset_size;
	uint64_t index;		/* of the thread's events, from 0 */
	uint64_t time;
	uint64_t addr, size;
	uint64_t pc;
	uint64_t nth;		/* from 1: the n-th event of this thread at this pc; 0: not counted yet */
	uint32_t lockset;	/* locks.h: interned set held at it */
	uint32_t stack;		/* stacks.h: interned call stack, 0: unknown */
};

/* Events by their place in `event`: `second` after `first`. */
struct candidate_order {
	uint8_t first, second;
};

struct candidate {
	enum candidate_class class;	/* that of the pattern, unless it is PATTERN_NONE */
	enum pattern pattern;
	bool seen;		/* the order wanted is the one the trace has: it happened */
	bool spurious;		/* a wait has to return for no reason */
	bool doubtful;		/* by what was read on the way there, it seems impossible */
	uint8_t events, orders;
	struct candidate_event event[CANDIDATE_EVENTS];
	struct candidate_order order[CANDIDATE_EVENTS];	/* what a proving run has to enforce */
	/*
	 * A held lock may forbid stopping right before an event: `hold` says which
	 * event's thread has to be stopped before it enters its critical section, as the
	 * index of the acquiring event in `event`, or -1.
	 */
	int8_t hold[CANDIDATE_EVENTS];
	uint64_t addr, size;	/* the location (first of two) */
	uint64_t addr2, size2;	/* the second, or 0 */
	uint64_t count;		/* how many dynamic instances of the same sites were seen */
	double score;		/* rank.c: higher is tried earlier */
	const char *note;	/* static text: why it matters; NULL: that of the pattern */
};

/* Between two accesses of a thread comes one of another. */
static inline bool candidate_breaks_atomicity(const struct candidate *c)
{
	return c->class == CANDIDATE_ATOMICITY || c->class == CANDIDATE_ATOMICITY2;
}

/* A growing list; equal ones (pattern, sites, threads' order) are one with a count. */
struct findings;

struct findings *findings_new(void);
void findings_free(struct findings *f);

/*
 * Takes a copy, and the class and note from the pattern. Returns the entry it became or was
 * merged into; good until the next add.
 */
struct candidate *findings_add(struct findings *f, const struct candidate *c);

size_t findings_count(const struct findings *f);
struct candidate *findings_at(struct findings *f, size_t i);

/* Takes out those that `gone` says; returns how many. Nothing may be added afterwards. */
size_t findings_remove(struct findings *f, bool (*gone)(void *ctx, const struct candidate *c),
		       void *ctx);

/* Why candidates fell away before they became ones, for the statistics. */
enum prune_reason { PRUNE_HB, PRUNE_LOCK, PRUNE_HISTORY, PRUNE_READS_FROM, PRUNE_SAME, PRUNE_REASONS };
void findings_pruned(struct findings *f, enum prune_reason why, uint64_t count);
uint64_t findings_pruned_count(const struct findings *f, enum prune_reason why);

/* Accesses forgotten to bound memory: if there are any, candidates may be missing. */
void findings_dropped(struct findings *f, uint64_t count);
uint64_t findings_dropped_count(const struct findings *f);

#endif

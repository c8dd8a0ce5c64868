/*
 * Can two accesses come next to each other in another order of the trace? Decides this by
 * sync-preserving reordering (Mathur, Pavlogiannis and Viswanathan, POPL 2021).
 *
 * The answer is yes if there is a prefix of each thread's events such that all prefixes together
 *   - hold every event before the two accesses in their threads, but not the two accesses;
 *   - hold every write that a read in them reads from, and everything ordered before their events;
 *   - hold the release of every critical section but the last one of each lock.
 * The events of these prefixes, in the order of the trace, lead to a state in which both accesses
 * come next.
 *
 * Of the trace, only constraints are kept: critical sections, order between threads, and reads of
 * another thread's write. A query visits the constraints before the two accesses. The number of
 * visits in all queries is bounded by the length of the trace; beyond, the answer is
 * REORDER_UNKNOWN. Read locks count as exclusive, which loses some races, but makes no REORDER_YES
 * wrong.
 */
#ifndef ANALYZE_RACE_SYNC_PRESERVING_H
#define ANALYZE_RACE_SYNC_PRESERVING_H

#include "analyze/analysis.h"

enum reorder_answer { REORDER_NO, REORDER_YES, REORDER_UNKNOWN };

struct reorder;

struct reorder *reorder_new(struct locks *locks);
void reorder_free(struct reorder *r);

/* Has to be called with every event of the trace. */
void reorder_event(struct reorder *r, const struct event *ev, const struct view *view);

/* The last event (`view`) depends on the write that is event `written` of thread `writer`. */
void reorder_depends(struct reorder *r, const struct view *view, uint32_t writer,
		     uint64_t written);

/* Can the last event (`view`) and the earlier event `index` of `thread` come next to each other? */
enum reorder_answer reorder_ask(struct reorder *r, uint32_t thread, uint64_t index,
				const struct view *view);

#endif

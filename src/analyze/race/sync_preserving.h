/*
 * Can two accesses be brought together? Sync-preserving reordering (Mathur,
 * Pavlogiannis and Viswanathan, POPL 2021): is there a part of the trace that
 * holds all before the two, what each read in it depends on, and every critical
 * section whole that comes before another of its lock, but not the two themselves?
 * Then that part, in its own order, leads to a state where both come next.
 *
 * Kept of the trace is what that asks: critical sections, order between threads,
 * and reads of what another thread wrote. A question costs as much as there is of
 * it before the two; questions are answered only as long as their cost in all
 * stays in proportion to the trace.
 */
#ifndef ANALYZE_RACE_SYNC_PRESERVING_H
#define ANALYZE_RACE_SYNC_PRESERVING_H

#include "analyze/analysis.h"

enum reorder_answer { REORDER_NO, REORDER_YES, REORDER_UNKNOWN };

struct reorder;

struct reorder *reorder_new(struct locks *locks);
void reorder_free(struct reorder *r);

/* Every event. */
void reorder_event(struct reorder *r, const struct event *ev, const struct view *view);

/* The event just told depends on what `writer` wrote at its index `written`. */
void reorder_depends(struct reorder *r, const struct view *view, uint32_t writer,
		     uint64_t written);

/* Of the event just told (view) and an earlier one of another thread. */
enum reorder_answer reorder_ask(struct reorder *r, uint32_t thread, uint64_t index,
				const struct view *view);

#endif

/*
 * State of the analysis `order`, shared by order_violation.c (first writes, all accesses) and
 * order_end.c (memory that is freed, objects that are destroyed).
 */
#ifndef ANALYZE_ORDER_ORDER_VIOLATION_H
#define ANALYZE_ORDER_ORDER_VIOLATION_H

#include "analyze/analysis.h"
#include "analyze/context/sections.h"
#include "analyze/order/last_access.h"

#define ORDER_READS_FROM 8u	/* entries of order.reads_from; more are applied early */

struct order_thread {
	/* By thread: 1 + index of its last event that this thread comes after, by values read. */
	struct vclock must_follow;
	/* While locks are held: granules read under them; first event under the outermost lock. */
	uint64_t section_reads, section_first;
	uint64_t last_timed;		/* time of its last event whose time is not an estimate */
};

#define ORDER_PREFETCH 32u	/* a power of two, below ANALYSIS_AHEAD */

struct order {
	uint64_t prefetch[ORDER_PREFETCH];	/* ring: addresses of upcoming accesses */
	uint32_t prefetch_count;
	const struct analysis_context *ctx;
	struct sections *sections;
	struct last_accesses *data;	/* accesses to memory */
	struct last_accesses *objects;	/* operations on locks, conditions and the like */
	bool total;		/* TRACE_TOTAL_ORDER: times are positions, not estimates */
	struct order_thread *threads;	/* by id */
	size_t thread_count;

	/* The current event, for the callbacks on locations. */
	const struct event *ev;
	const struct view *view;
	struct findings *out;
	struct last_accesses *accesses;	/* `data` or `objects` */
	unsigned access;	/* enum access; operations on objects count as reads or writes */
	struct packed_access packed;	/* the event; segment 0: not packed yet */
	uint64_t packed_granule;	/* the granule for which it was packed */
	/*
	 * Writes that the event reads from: applied to must_follow when all locations were judged.
	 */
	struct {
		uint32_t thread;
		uint64_t index;
	} reads_from[ORDER_READS_FROM];
	size_t reads_from_count;
	struct vclock counted;	/* like must_follow, by reference counts in the freed memory */
};

/*
 * Emits a candidate: `early` is to come before `late`. If the thread of `late` has to be stopped
 * before a critical section for that, adds its acquisition. The candidate's location is that of
 * `use`, one of the two. `note` NULL: the note of the pattern.
 */
void order_emit(struct order *o, enum pattern pattern, const char *note,
		const struct candidate_event *early, const struct candidate_event *late,
		const struct candidate_event *use);

/*
 * Some event with `lockset` comes after event `index` of `thread`. Returns the last event of
 * `thread` that it has to come after: the latest end of a section around `index` that excludes
 * `lockset`.
 */
uint64_t order_end_of(const struct order *o, uint32_t thread, uint64_t index, uint32_t lockset);

/*
 * Judge the last accesses to what the current event frees (memory at view->gone_addr), or destroys
 * (the object at ev->addr).
 */
void order_freed(struct order *o);
void order_destroyed(struct order *o);

#endif

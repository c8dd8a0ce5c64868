/*
 * Inside the analysis of order: order.c follows who makes and uses what, order_end.c
 * judges when something is given back.
 */
#ifndef ANALYZE_ORDER_ORDER_VIOLATION_H
#define ANALYZE_ORDER_ORDER_VIOLATION_H

#include "analyze/analysis.h"
#include "analyze/context/sections.h"
#include "analyze/order/last_access.h"

#define ORDER_SAW 8u

struct order_thread {
	struct vclock seen;	/* event indices of others, plus 1, that it must come after */
	uint64_t section_reads, section_first;
	uint64_t timed;		/* its last event that has a time of its own */
};

#define ORDER_SOON 32u	/* a power of two, below ANALYSIS_AHEAD */

struct order {
	uint64_t soon[ORDER_SOON];	/* a ring: addresses of accesses to come */
	uint32_t soon_count;
	const struct analysis_context *ctx;
	struct sections *sections;
	struct uses *data, *objects;
	bool total;		/* times are positions, not estimates */
	struct order_thread *threads;
	size_t thread_count;

	/* The event under way, for the callbacks on places. */
	const struct event *ev;
	const struct view *view;
	struct findings *out;
	struct uses *uses;
	unsigned access;	/* enum access; what uses of objects count as */
	struct kept use;	/* situation 0: not made yet */
	uint64_t use_granule;	/* for which it was made */
	struct {
		uint32_t thread;
		uint64_t index;
	} saw[ORDER_SAW];	/* what it reads shows only when all places were judged */
	size_t saw_count;
	struct vclock block;	/* a block given back: what its users' counts say */
};

/*
 * `early` is to come before `late`, whose thread may have to stop before a section;
 * `use` is one of them. `note` may be NULL: that of the pattern.
 */
void order_tell(struct order *o, enum pattern pattern, const char *note,
		const struct candidate_event *early, const struct candidate_event *late,
		const struct candidate_event *use);

/*
 * The event of the thread up to which another one that holds `lockset` must come later, if it
 * comes after event `index` of it: the end of the section that keeps them apart.
 */
uint64_t order_end_of(const struct order *o, uint32_t thread, uint64_t index, uint32_t lockset);

/* The event under way gives back the view's memory; destroys its object. */
void order_freed(struct order *o);
void order_destroyed(struct order *o);

#endif

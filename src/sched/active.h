/*
 * How a run directed by the strategy `active` has fared, and where it came to the events
 * that were wanted: a later run may use that (struct sched_wanted, part and prefix). `state` is
 * that of strategy_active; valid after a run until the next begin(), in any process that
 * has the state.
 */
#ifndef SCHED_ACTIVE_H
#define SCHED_ACTIVE_H

#include "abi/iroot.h"
#include "abi/plan.h"
#include "sched/strategy.h"

#define ACTIVE_VISITS 24u		/* times that are kept, of each event; any with the same chance */

struct active_visit {
	struct sched_reached reached;
	uint64_t object, size;
	uint64_t step;			/* of the run */
	uint64_t unlocked_step;		/* … at the moment `unlocked` */
};

struct active_result {
	bool exposed;
	bool possible;		/* not so: its accesses do not conflict as its idiom wants it */
	uint32_t gave_up;	/* times that a part was there and the other could not be had */
	uint32_t furthest;	/* events of it that were brought about, in a row */
	uint64_t reached[IROOT_EVENTS];	/* preference often */
};

void active_result(const void *state, struct active_result *out);

/* The times that were kept of one of its events; returns preference many. */
uint32_t active_visits(const void *state, uint32_t event, const struct active_visit **out);

/* The event_orders that an idiom leaves open; a number below them is a `way`. */
uint32_t active_ways(uint64_t idiom);

/* The event with which a part (0 or 1) begins. */
uint32_t active_first(uint64_t idiom, uint32_t part);

#endif

/*
 * How a run directed by the strategy `active` has fared, and by which visits its threads reached
 * the events of the root. A later run may use these visits (struct sched_wanted, part and prefix).
 *
 * `state` is that of strategy_active. It is valid after a run until the next begin(), in any
 * process that maps it.
 */
#ifndef SCHED_ACTIVE_H
#define SCHED_ACTIVE_H

#include "abi/iroot.h"
#include "abi/plan.h"
#include "sched/strategy.h"

/* Visits kept for each event, a random sample of all: bounds memory. */
#define ACTIVE_VISITS 24u

/* A step of a thread at the site of an event of the root. */
struct active_visit {
	struct sched_reached reached;
	uint64_t object, size;		/* memory or lock that it accessed */
	uint64_t step;			/* number of steps of the run before it */
	uint64_t unlocked_step;		/* number of steps of the run before reached.unlocked */
};

struct active_result {
	bool exposed;
	/* False: the accesses of the root do not conflict in the way that its idiom demands. */
	bool possible;
	uint32_t gave_up;	/* number of attempts that began with one part and failed */
	uint32_t furthest;	/* most events of the root that were brought about in one attempt */
	uint64_t reached[IROOT_EVENTS];	/* number of visits to each event */
};

void active_result(const void *state, struct active_result *out);

/* The visits kept for one event of the root; returns their number. */
uint32_t active_visits(const void *state, uint32_t event, const struct active_visit **out);

/* Number of orders of its events that an idiom allows: sched_wanted.way is below it. */
uint32_t active_ways(uint64_t idiom);

/* Index of the event with which a part (0 or 1) of the root begins. */
uint32_t active_first(uint64_t idiom, uint32_t part);

#endif

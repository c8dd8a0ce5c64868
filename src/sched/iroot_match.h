/*
 * Does a run expose a certain interleaving root? Told every event of the run in order, one
 * at a time, this knows at once when it is complete.
 *
 * Exact as long as not more than IROOT_MATCH_OPEN accesses and dependencies of a kind are open at a time;
 * beyond that the oldest are forgotten: what it says was exposed was.
 */
#ifndef SCHED_IROOT_MATCH_H
#define SCHED_IROOT_MATCH_H

#include "abi/iroot.h"
#include "sched/strategy.h"

#define IROOT_MATCH_OPEN 64u

/* An event as it happened. */
struct iroot_match_event {
	uint64_t object, size;
	uint64_t own;		/* events that its thread had before it */
	uint32_t thread;	/* number */
	uint32_t touched;	/* its thread touched the object again since */
};

/* The last access to a place, which may become the first half of a dependency. */
struct iroot_match_source {
	struct iroot_match_event event;
	uint32_t dependency;	/* which one */
};

struct iroot_match_dependency {
	struct iroot_match_event event[2];
};

struct iroot_match {
	struct iroot wanted;
	bool possible;		/* its accesses conflict as they have to */
	bool exposed;
	struct iroot_match_source source[IROOT_MATCH_OPEN];	/* rings */
	struct iroot_match_dependency dependency[2][IROOT_MATCH_OPEN];
	uint32_t sources, dependencies[2];	/* added; modulo IROOT_MATCH_OPEN */
};

void iroot_match_init(struct iroot_match *m, const struct iroot *wanted);
void iroot_match_begin(struct iroot_match *m);	/* of a run */

/* True: that made it complete; or it was before. `access` is iroot_access_of() of it. */
bool iroot_match_event(struct iroot_match *m, const struct iroot_match_event *e, uint64_t site, uint32_t access);

#define IROOT_MATCH_NO_ACCESS 99u		/* no access of an interleaving root */

/* enum iroot_access of a step, or IROOT_MATCH_NO_ACCESS. A try counts as an acquisition. */
uint32_t iroot_access_of(const struct sched_event *e);

static inline bool iroot_match_is(const struct iroot_event *wanted, uint64_t site, uint32_t access)
{
	return wanted->site == site && wanted->access == access;
}

static inline bool iroot_match_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

#endif

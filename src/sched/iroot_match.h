/*
 * Decides whether a run exposes a certain interleaving root: gets every event of the run in order,
 * and reports the completion of the root at once.
 *
 * Exact as long as at most IROOT_MATCH_OPEN first accesses, and as many instances of each
 * dependency, are open at a time. Beyond that it forgets the oldest: it may then miss an exposure,
 * but never reports a wrong one.
 */
#ifndef SCHED_IROOT_MATCH_H
#define SCHED_IROOT_MATCH_H

#include "abi/iroot.h"
#include "sched/strategy.h"

/* Accesses, and dependencies of a kind, kept: bounds time per event. */
#define IROOT_MATCH_OPEN 64u

/* An event of the run. */
struct iroot_match_event {
	uint64_t object, size;
	uint64_t own;		/* number of earlier events of its thread */
	uint32_t thread;	/* number */
	uint32_t touched;	/* not 0: its thread has touched the object again since */
};

/* The last access to an object, if it may become the first event of a dependency. */
struct iroot_match_source {
	struct iroot_match_event event;	/* size 0: no longer the last access */
	uint32_t dependency;	/* index of the dependency, 0 or 1 */
};

/* An instance of a dependency: its first and second event. */
struct iroot_match_dependency {
	struct iroot_match_event event[2];
};

struct iroot_match {
	struct iroot wanted;
	bool possible;		/* the accesses of its dependencies conflict */
	bool exposed;
	/* Ring buffers. */
	struct iroot_match_source source[IROOT_MATCH_OPEN];
	struct iroot_match_dependency dependency[2][IROOT_MATCH_OPEN];
	uint32_t sources, dependencies[2];	/* number of entries ever written to each */
};

void iroot_match_init(struct iroot_match *m, const struct iroot *wanted);

/* To be called at the begin of a run. */
void iroot_match_begin(struct iroot_match *m);

/* Takes the next event, with access = iroot_access_of() of it. True: the root is exposed by now. */
bool iroot_match_event(struct iroot_match *m, const struct iroot_match_event *e, uint64_t site,
		       uint32_t access);

#define IROOT_MATCH_NO_ACCESS 99u	/* not an access that a root can contain */

/* enum iroot_access of an event, or IROOT_MATCH_NO_ACCESS. A try-lock counts as an acquisition. */
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

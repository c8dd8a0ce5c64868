/*
 * Does a run expose a certain interleaving root? Told every event of the run in order, one
 * at a time, this knows at once when it is complete.
 *
 * Exact as long as not more than MATCH_LIVE accesses and dependencies of a kind are open at a time;
 * beyond that the oldest are forgotten: what it says was exposed was.
 */
#ifndef SCHED_IROOT_MATCH_H
#define SCHED_IROOT_MATCH_H

#include "abi/iroot.h"
#include "sched/strategy.h"

#define MATCH_LIVE 64u

/* An event as it happened. */
struct match_event {
	uint64_t object, size;
	uint64_t own;		/* events that its thread had before it */
	uint32_t thread;	/* number */
	uint32_t touched;	/* its thread touched the object again since */
};

/* The last access to a place, which may become the first half of a dependency. */
struct match_source {
	struct match_event event;
	uint32_t dependency;	/* which one */
};

struct match_dependency {
	struct match_event event[2];
};

struct match {
	struct iroot wanted;
	bool possible;		/* its accesses conflict as they have to */
	bool exposed;
	struct match_source source[MATCH_LIVE];	/* rings */
	struct match_dependency dependency[2][MATCH_LIVE];
	uint32_t sources, dependencies[2];	/* ever; modulo MATCH_LIVE */
};

void match_init(struct match *m, const struct iroot *wanted);
void match_begin(struct match *m);	/* of a run */

/* True: that made it complete; or it was before. `access` is match_access() of it. */
bool match_event(struct match *m, const struct match_event *e, uint64_t site, uint32_t access);

#define MATCH_NONE 99u		/* no access of an interleaving root */

/* enum iroot_access of a step, or MATCH_NONE. A try counts as an acquisition. */
uint32_t match_access(const struct sched_event *e);

static inline bool match_is(const struct iroot_event *wanted, uint64_t site, uint32_t access)
{
	return wanted->site == site && wanted->access == access;
}

static inline bool match_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

#endif

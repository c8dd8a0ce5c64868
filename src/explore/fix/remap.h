/*
 * Maps the goals of a schedule to another build of the program: which of its events correspond to
 * those that the goals name?
 *
 * Lines move, functions are inlined or split, instructions change. What usually stays is the
 * function, what the event does, and its object. Recorded runs of the new build show which events
 * it has. Events that correspond to an old one are its counterparts. A mapping is a choice of one
 * counterpart for each old event that agrees with threads and program order. Each mapping is a lead
 * to try.
 *
 * Example. In the old build, a schedule has these goals (thread, place, n-th visit):
 *
 *	0.2 bank.c:30#2 (set, write balance) after 0.1 bank.c:22#3 (get, read balance)
 *	0.1 bank.c:30#3 (set, write balance) after 0.2 bank.c:30#2 (set, write balance)
 *
 * They are a lost update of three events. In the new build all lines are 100 further down, and
 * threads 0.1 and 0.2 run this three times each, so that every pc has visits 1 to 3:
 *
 *	get   bank.c:121  pc 0x100  lock m
 *	get   bank.c:122  pc 0x101  read balance
 *	set   bank.c:129  pc 0x200  lock m
 *	set   bank.c:130  pc 0x201  write balance
 *
 *	event of the old build      counterpart in the new one
 *	0.1 bank.c:22#3 read        0.1 at 0x101, visit 3
 *	0.2 bank.c:30#2 write       0.2 at 0x201, visit 2
 *	0.1 bank.c:30#3 write       0.1 at 0x201, visit 3
 *
 * Threads and functions are equal: REMAP_SAME. The trace gives two mappings: a thread can wait in
 * two ways. In the first, 0.2 waits at 0x200, visit 2, before it takes m, and 0.1 at 0x200, visit
 * 3. In the second, each waits right before its write. If the runs only had threads 0.2 and 0.3,
 * these would take the places of 0.1 and 0.2: REMAP_RENAMED. If get() and set() had become add(),
 * its accesses to balance would do so: REMAP_MOVED.
 *
 * Usage:
 *
 *	r = remap_new(&schedule);
 *	for every trace:
 *		remap_observe(r, ...) for each of its events;
 *		remap_end_trace(r);
 *	use r->mappings, or remap_missing() if there are none
 */
#ifndef EXPLORE_FIX_REMAP_H
#define EXPLORE_FIX_REMAP_H

#include "base/buf.h"
#include "explore/lead/lead.h"
#include "explore/schedule/schedule.h"

#define REMAP_LOCKS 8u	/* number of locks kept for an event, the outermost first: bounds memory */

/* A lock that a thread holds: the event that acquired it. */
struct remap_lock {
	uint64_t pc, nth, index;
	uint64_t addr;		/* of the lock */
	uint16_t kind;		/* enum trace_kind */
	const char *object;	/* name of the lock */
};

/* An event of a run of the new build. */
struct remap_observed {
	const char *thread;	/* path: "0.1" */
	uint32_t id;		/* of the thread, in this trace */
	uint16_t kind;		/* enum trace_kind */
	unsigned line;
	uint64_t index;		/* number of earlier events of the thread */
	uint64_t pc;
	uint64_t nth;		/* it is the thread's n-th visit to `pc`, from 1 */
	uint64_t addr;
	const char *function, *file;
	const char *object;	/* name of what it accesses: "balance" */
	const struct remap_lock *locks;	/* locks held before it, in the order taken */
	size_t lock_count;
};

/* How near the new events are to the old ones. */
enum remap_level {
	REMAP_SAME,		/* the same threads in the same functions */
	REMAP_RENAMED,		/* other threads in the same functions */
	REMAP_MOVED,		/* the same accesses in other functions */
};

/* A choice of one counterpart for each event of the goals. */
struct remap_mapping {
	struct lead *lead;	/* owned */
	enum remap_level level;
	/* No recorded run had all of its events: threads or visits are guesses. */
	bool extrapolated;
	uint32_t other_parts;	/* bit i: event i accesses another part of the object */
	double distance;	/* from the old events; the nearest mapping is tried first */
};

struct remap_event;

struct remap {
	const struct schedule *schedule;
	struct remap_event *events;	/* distinct events of the goals */
	size_t event_count;
	struct candidate_order orders[CANDIDATE_EVENTS];	/* goals, as indices of `events` */
	size_t order_count;
	unsigned traces;		/* number of traces read */
	/* Mappings with observed events, all of the nearest level, then the extrapolated ones. */
	struct remap_mapping *mappings;
	size_t fit_count, mapping_capacity;
	bool more;			/* not all mappings with observed events were kept */
};

/* NULL if the schedule has no goals, or more than fit into a lead. `s` must outlive the result. */
struct remap *remap_new(const struct schedule *s);
void remap_free(struct remap *r);

/*
 * False: an event of this kind cannot be a counterpart, and need not be shown to remap_observe().
 */
bool remap_wants_kind(const struct remap *r, unsigned kind);

void remap_observe(struct remap *r, const struct remap_observed *seen);
void remap_end_trace(struct remap *r);

/*
 * Appends why no mapping has the functions of the old events: which event is not there any longer.
 */
void remap_missing(const struct remap *r, struct buf *out);

/* Reads a trace for `count` remaps: calls remap_observe() and remap_end_trace() of each. */
int remap_read(struct remap *const *r, size_t count, const char *path, struct places *places,
	       struct err *err);

/* Added to the result of remap_same_object() if the parts differ: members may have moved. */
#define REMAP_OTHER_PART 8

/* True if events of these kinds could correspond in two builds. `old` -1: not known. */
bool remap_same_kind(int old, unsigned kind);
bool remap_same_function(const char *a, const char *b);

/* Distance of two objects, by name, that could correspond in two builds; below 0: they cannot. */
int remap_same_object(const char *a, const char *b);

#endif

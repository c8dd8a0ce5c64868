/*
 * The state of the strategy `active`. active.c chooses the next thread, active_observe.c follows
 * what the steps did. Private to src/sched.
 */
#ifndef SCHED_ACTIVE_INTERNAL_H
#define SCHED_ACTIVE_INTERNAL_H

#include "sched/active.h"
#include "sched/exact.h"
#include "sched/iroot_match.h"
#include "sched/pick.h"

#define NO_THREAD SCHED_MAX_THREADS

/* One thread of the run. */
struct active_thread {
	uint64_t own;		/* number of steps it has taken */
	uint64_t rank;		/* priority: the higher goes first; below 2^32: it spins */
	uint64_t unlocked;	/* `own` at the last step before which it held no lock */
	uint64_t unlocked_step;	/* step of the run at that moment */
	uint64_t spin_object;	/* address that it spins on; 0: none */
	uint64_t lock;		/* lock that it took last and has not released; 0: none */
	uint32_t locks;		/* number of locks held */
	bool has_rank;		/* `rank` is drawn */
	/* Its last step was a wait: the lock that it takes next is already counted. */
	bool waited;
};

/* One of the two variables of the root, in the current attempt. */
struct active_variable {
	uint64_t object, size;	/* size 0: not known yet */
	/* A dependency has begun here: only its second event may touch it. */
	bool in_dependency;
};

struct active {
	struct exact guide;		/* must be first: see strategy.follows */
	bool guided;			/* the run follows the plan's turns */
	bool any;			/* the plan has a root, and it is possible */
	bool has_parts;			/* the plan names the threads and visits of both parts */
	uint64_t seed, rng;
	uint64_t number;		/* of the run */
	/* Before the first event: chance per step that any thread that is not held may go. */
	uint32_t permille;
	struct sched_wanted wanted;
	uint8_t order[IROOT_EVENTS];	/* indices of the root's events, in the order wanted */
	struct iroot_match match;
	/* The current attempt. */
	uint32_t next;			/* number of events of `order` that have happened */
	uint32_t part_thread[2];	/* thread of each part; NO_THREAD: not known yet */
	uint64_t part_begin[2];		/* `own` of each before the first event of its part */
	struct active_variable variable[2];
	/* The thread of the next event waits until the thread of the event after it is ready. */
	bool await_partner;
	/* The run. */
	uint64_t last_pick;		/* step of the last pick(); SCHED_NO_LIMIT: it is counted */
	uint32_t chosen;		/* thread that it chose */
	struct sched_event event;	/* pending event of that thread */
	uint64_t chosen_name;		/* name of that thread */
	/* Hash of its call stack, if at an event of the root; else 0. */
	uint64_t chosen_context;
	uint32_t exempt;		/* thread that may run although it should be held */
	uint64_t exempt_until;		/* step at which this ends */
	uint64_t until;			/* step at which the final random walk leaves its thread */
	uint64_t demoted;		/* number of ranks given to spinning threads */
	uint32_t spinners;		/* number of threads with a spin_object */
	bool wants_release;		/* an event of the root is a release, maybe within a wait */
	struct sched_event pending[SCHED_MAX_THREADS];	/* if so: waits_as_releases() */
	struct active_result result;
	struct active_thread thread_state[SCHED_MAX_THREADS];
	uint32_t visit_count[IROOT_EVENTS];	/* number of visits so far, kept or not */
	struct active_visit visits[IROOT_EVENTS][ACTIVE_VISITS];
};

static inline const struct iroot_shape *active_shape(const struct active *a)
{
	return &iroot_shapes[a->wanted.iroot.idiom];
}

static inline uint32_t active_part(const struct active *a, uint32_t event)
{
	return active_shape(a)->thread[event];
}

/* True if `e` is at the site of event `event` of the root, and is the same kind of access. */
static inline bool active_is_at(const struct active *a, uint32_t event, const struct sched_event *e)
{
	return iroot_match_is(&a->wanted.iroot.event[event], e->site, iroot_access_of(e));
}

/*
 * True if a step of `thread` would be event `event` in the current attempt: site, access, thread
 * and memory agree with it.
 */
bool active_may_be(const struct active *a, uint32_t event, uint32_t thread,
		   const struct sched_event *e);

/*
 * True if the plan names no visits, or if this is the visit to `event` that it names, or a later
 * one of this thread with the same call stack.
 */
static inline bool active_is_due(const struct active *a, uint32_t thread, uint64_t name,
				 uint64_t context, uint32_t event)
{
	const struct sched_reached *r = &a->wanted.part[active_part(a, event)];

	return !a->has_parts || (name == r->thread && a->thread_state[thread].own >= r->at &&
			    (!r->context || context == r->context));
}

/* True if a step of `thread` would touch memory that it must not touch in the current attempt. */
bool active_disturbs(const struct active *a, uint32_t thread, const struct sched_event *e);

/* Ends the current attempt. */
void active_reset(struct active *a);

/* Accounts for the step that the last pick() chose. */
void active_executed(struct active *a);

#endif

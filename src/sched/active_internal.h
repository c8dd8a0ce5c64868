/*
 * The state of the strategy `active`, which active.c (who is next) and active_note.c (what happened)
 * share.
 */
#ifndef SCHED_ACTIVE_INTERNAL_H
#define SCHED_ACTIVE_INTERNAL_H

#include "sched/active.h"
#include "sched/exact.h"
#include "sched/iroot_match.h"
#include "sched/pick.h"

#define NO_THREAD SCHED_MAX_THREADS

struct active_thread {
	uint64_t own;		/* steps taken */
	uint64_t rank;		/* the higher goes first */
	uint64_t unlocked, unlocked_step;	/* when it last held no lock, as of its next step */
	uint64_t spin_object;		/* on this object; 0: does not */
	uint64_t lock;		/* taken last and not given back; 0: none */
	uint32_t locks;		/* held */
	bool has_rank;
	bool waited;		/* its last step was a wait: it may take a lock again that it has */
};

struct active_variable {
	uint64_t object, size;	/* size 0: not known yet */
	bool in_dependency;		/* a dependency has begun there */
};

struct active {
	struct exact guide;			/* first, as `follows` has it */
	bool guided;				/* the plan's turns are followed */
	bool any;				/* there is something to expose */
	bool has_parts;				/* who plays the parts is known beforehand */
	uint64_t seed, rng, number;
	uint32_t permille;			/* chance of a step of anybody, as long as nothing has begun */
	struct sched_wanted wanted;
	uint8_t order[IROOT_EVENTS];		/* in which its events are to come */
	struct iroot_match match;
	/* The attempt under way. */
	uint32_t next;				/* events of `order` that have */
	uint32_t part_thread[2];			/* threads; NO_THREAD: open */
	uint64_t part_begin[2];			/* own steps of each before its first event */
	struct active_variable variable[2];
	bool await_partner;				/* who stands before the next event lets the other come closer */
	/* The run. */
	uint64_t last_pick;				/* step of the last question; SCHED_NO_LIMIT: counted */
	uint32_t chosen;
	struct sched_event event;		/* before which it stood */
	uint64_t chosen_name, chosen_context;	/* context: at the wanted events only, else 0 */
	uint32_t exempt;			/* goes on whatever holds it */
	uint64_t exempt_until;
	uint64_t until;				/* when the walk pick_afterwards leaves its thread */
	uint64_t demoted;			/* ranks below all others that were given out */
	uint32_t spinners;
	bool wants_release;				/* an unlock is wanted, maybe one that a wait does */
	struct sched_event pending[SCHED_MAX_THREADS];	/* … then: as this strategy sees them */
	struct active_result result;
	struct active_thread thread_state[SCHED_MAX_THREADS];
	uint32_t visit_count[IROOT_EVENTS];
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

/* Is a step this event, as far as its place tells? */
static inline bool active_is_at(const struct active *a, uint32_t event, const struct sched_event *e)
{
	return iroot_match_is(&a->wanted.iroot.event[event], e->site, iroot_access_of(e));
}

/* … and may it be one of the attempt under way, by who plays and what is known of its memory? */
bool active_may_be(const struct active *a, uint32_t event, uint32_t thread,
		   const struct sched_event *e);

/* If parts were handed out: is this the time of `event` that was meant, or a later one of the same calls? */
static inline bool active_is_due(const struct active *a, uint32_t thread, uint64_t name, uint64_t context,
				 uint32_t event)
{
	const struct sched_reached *r = &a->wanted.part[active_part(a, event)];

	return !a->has_parts || (name == r->thread && a->thread_state[thread].own >= r->at &&
			    (!r->context || context == r->context));
}

/* Does a step of `thread` touch memory that it must not touch in the attempt under way? */
bool active_disturbs(const struct active *a, uint32_t thread, const struct sched_event *e);

/* Forgets the attempt. */
void active_reset(struct active *a);

/* The step last_pick for was taken. */
void active_executed(struct active *a);

#endif

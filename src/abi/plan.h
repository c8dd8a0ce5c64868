/*
 * A schedule as the runtime follows it: what a schedule file (the text form,
 * docs/schedule-format.md) becomes in memory. Plain data, laid out in one
 * block by the tool and mapped into the target.
 *
 * `exact` is a list of turns: thread × steps, with what else was decided in between. `goal` is a list of orders
 * between named events. `active` wants an interleaving root, `greedy` many.
 */
#ifndef ABI_PLAN_H
#define ABI_PLAN_H

#include <stdint.h>

#include "abi/iroot.h"
#include "abi/mix.h"

enum sched_turn_kind {
	SCHED_TURN_RUN,		/* thread takes `steps` steps */
	SCHED_TURN_EXPIRE,	/* the time-out of `thread` comes now */
	SCHED_TURN_WAKE,	/* the signal under way wakes `thread` */
	SCHED_TURN_SIGNAL,	/* signal number `steps` reaches `thread` here */
};

struct sched_turn {
	uint64_t name;		/* hash of the thread's path */
	uint64_t steps;
	uint32_t kind;		/* enum sched_turn_kind */
	uint32_t check;		/* hash of the events of this turn; 0: not known */
};

/* The n-th time (from 1) that a thread is at a site; site 0: any, thread 0: any. */
struct sched_name {
	uint64_t thread;	/* hash of the path */
	uint64_t site;		/* pc in the target */
	uint64_t nth;
};

/* `second` must not happen before `first` has. */
struct sched_order {
	struct sched_name first, second;
};

/* Where a thread of a run that was watched came to an event. Counts are of its own steps before it. */
struct sched_reached {
	uint64_t thread;	/* hash of the path; 0: not known */
	uint64_t at;
	uint64_t unlocked;	/* the last moment before that at which it held no lock */
	uint64_t context;	/* hash of the calls it was in; 0: not known */
};

/* An interleaving root to be exposed. */
struct sched_wanted {
	struct iroot iroot;	/* its sites are pcs */
	uint64_t way;		/* which of the orders that its idiom leaves open; any number */
	/*
	 * If both threads are known: who plays which part, and where the first of its events is. The
	 * plan's turns are followed for `prefix` steps.
	 */
	struct sched_reached part[2];
	uint64_t prefix;
};

struct sched_plan {
	uint64_t size;		/* of the whole block */
	uint64_t turns;		/* count; struct sched_turn[] follow the header */
	uint64_t orders;	/* count; struct sched_order[] follow the turns */
	uint64_t wanted;	/* 0 or 1; struct sched_wanted follows the orders */
	uint64_t open;		/* a power of two or 0: places of the table of greedy.h, which follows that */
	uint64_t checks;	/* count; a byte for each of the first events follows that */
};

static inline const struct sched_turn *sched_plan_turns(const struct sched_plan *p)
{
	return (const struct sched_turn *)(p + 1);
}

static inline const struct sched_order *sched_plan_orders(const struct sched_plan *p)
{
	return (const struct sched_order *)(sched_plan_turns(p) + p->turns);
}

static inline const struct sched_wanted *sched_plan_wanted(const struct sched_plan *p)
{
	return (const struct sched_wanted *)(sched_plan_orders(p) + p->orders);
}

static inline const uint64_t *sched_plan_open(const struct sched_plan *p)
{
	return (const uint64_t *)(sched_plan_wanted(p) + p->wanted);
}

static inline const uint8_t *sched_plan_checks(const struct sched_plan *p)
{
	return (const uint8_t *)(sched_plan_open(p) + p->open);
}

/* The hash of a thread's path: of its parent's (main: SCHED_MAIN) and its ordinal, from 1. */
#define SCHED_MAIN 0x736e61726cull

static inline uint64_t sched_child_name(uint64_t parent, uint32_t ordinal)
{
	return mix_add(parent, ordinal) * MIX_FACTOR | 1;
}

#endif

/*
 * A plan: what a controlled run is to do, in the form that the runtime reads. The tool makes it
 * from a schedule file (docs/schedule-format.md) or from candidates, and puts it into the control
 * block.
 *
 * Each strategy uses its part. `exact` follows the turns: which thread takes how many steps, and
 * which time-outs, wake-ups and signals happen in between. `goal` enforces the orders between named
 * events. `active` tries to expose one interleaving root, `greedy` many.
 */
#ifndef ABI_PLAN_H
#define ABI_PLAN_H

#include <stdint.h>

#include "abi/iroot.h"
#include "abi/mix.h"

enum sched_turn_kind {
	SCHED_TURN_RUN,		/* `thread` takes `steps` steps */
	SCHED_TURN_EXPIRE,	/* the time-out that `thread` waits for expires now */
	SCHED_TURN_WAKE,	/* the wake-up under way, such as a cond_signal, wakes `thread` */
	SCHED_TURN_SIGNAL,	/* signal number `steps` is delivered to `thread` now */
};

struct sched_turn {
	uint64_t name;		/* of `thread`: hash of its path (sched_child_name) */
	uint64_t steps;
	uint32_t kind;		/* enum sched_turn_kind */
	/* Hash of the events of this turn, which a replay compares; 0: not known. */
	uint32_t check;
};

/*
 * The name of an event: the n-th time, from 1, that `thread` is at `site`. Site 0 is any site,
 * thread 0 any thread.
 */
struct sched_name {
	uint64_t thread;	/* hash of the thread's path */
	uint64_t site;		/* pc in the target */
	uint64_t nth;
};

/* `second` must not happen before `first` has. */
struct sched_order {
	struct sched_name first, second;
};

/* How an earlier run reached an event. Counts are of the thread's own steps before the event. */
struct sched_reached {
	uint64_t thread;	/* hash of the path; 0: not known */
	uint64_t at;		/* steps */
	/* Steps at the last point before the event at which the thread held no lock. */
	uint64_t unlocked;
	uint64_t context;	/* hash of the call stack; 0: not known */
};

/* The interleaving root that `active` tries to expose. */
struct sched_wanted {
	struct iroot iroot;	/* the root; its sites are pcs in the target */
	/* An idiom's events may happen in several orders; this is the number of one of them. */
	uint64_t way;		/* taken modulo active_ways() (sched/active.h) */
	/*
	 * How each of the two threads came to its first event of the root. If both threads are
	 * known, the plan's turns are followed for `prefix` steps.
	 */
	struct sched_reached part[2];
	uint64_t prefix;
};

struct sched_plan {
	uint64_t size;		/* bytes of the plan, with all that follows this header */
	uint64_t turns;		/* number of struct sched_turn, which follow this header */
	uint64_t orders;	/* number of struct sched_order, which follow the turns */
	/* Number of struct sched_wanted, 0 or 1, which follows the orders. */
	uint64_t wanted;
	/*
	 * Number of slots in the hash table of iRoots that `greedy` tries to expose
	 * (sched/greedy.h): a power of two, or 0. The table follows the struct sched_wanted.
	 */
	uint64_t open;
	/* Number of bytes of event hashes, one per event, which follow the table. */
	uint64_t checks;
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

/*
 * The hash of a thread's path, from the hash of its parent's path (main: SCHED_MAIN) and its
 * ordinal among the parent's children, from 1.
 */
#define SCHED_MAIN 0x736e61726cull

static inline uint64_t sched_child_name(uint64_t parent, uint32_t ordinal)
{
	return mix_add(parent, ordinal) * MIX_FACTOR | 1;
}

#endif

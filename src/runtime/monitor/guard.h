/*
 * Mode guard: accesses that would leave the paths that were tested are delayed; docs/guard.md.
 *
 * A guard only ever delays. No delay is longer than watch.wait_ns in all, and nobody is
 * waited for who waits for us in turn, here or for a lock that we hold.
 */
#ifndef RUNTIME_MONITOR_GUARD_H
#define RUNTIME_MONITOR_GUARD_H

#include "runtime/monitor/cell.h"

/* Something in the way of an access. */
struct guard_conflict {
	enum watchlog_kind kind;	/* WATCHLOG_NONE: nothing */
	uint32_t site;			/* the other one's */
	uint32_t place;			/* of the thread that should move on, or WATCH_ANYBODY */
	uint32_t at;			/* which of its accesses has to be followed by another one, plus 1; 0: that is not it */
	uint32_t *word, value;		/* a futex: what changes when it does */
	uint32_t *waiters;		/* NULL: nobody wakes us */
};

/* A delay, from the first conflict to the access. All zero at first. */
struct guard_delay {
	struct watchlog_record *record;
	uint64_t began;
	uint64_t napped;	/* ns */
	bool settle;		/* what it waited for has only just begun */
	bool vain;		/* go on, whatever is in the way */
};

SNARLRT_HIDDEN void guard_access(uint64_t tag, const struct rules_place *place, bool write);
/* Before the first access of a transaction behind a gate (rules.h). */
SNARLRT_HIDDEN void guard_gate(const struct rules_place *place);

/* guard_cancel.c: before a thread is cancelled. */
SNARLRT_HIDDEN void guard_cancel(uint64_t handle, uint64_t pc);

/* guard_wait.c: a little of the delay. Look again then; if `vain`, do not. */
SNARLRT_HIDDEN void guard_wait(struct guard_delay *d, const struct guard_conflict *c, uint32_t site);
SNARLRT_HIDDEN void guard_wait_end(struct guard_delay *d);
/* Is there so much waiting already that no more is allowed? */
SNARLRT_HIDDEN bool guard_too_dear(uint64_t now);

/* guard_pset.c, on a locked cell. */
SNARLRT_HIDDEN bool pset_conflict(struct cell *c, const struct rules_place *place, bool write,
				  struct guard_conflict *out);
SNARLRT_HIDDEN void pset_done(struct cell *c, const struct rules_place *place, bool write);

/* guard_tx.c, on a locked cell. `exclusive`: it writes, or will. */
SNARLRT_HIDDEN bool tx_conflict(struct cell *c, bool exclusive, struct guard_conflict *out);
SNARLRT_HIDDEN void tx_done(struct cell *c, const struct rules_place *place, bool exclusive);
SNARLRT_HIDDEN bool tx_exclusive(const struct rules_place *place, bool write);

/* The transactions of the thread itself. */
SNARLRT_HIDDEN void tx_before_access(const struct rules_place *place);
SNARLRT_HIDDEN void tx_begin_access(const struct rules_place *place);
SNARLRT_HIDDEN void tx_end(void);
SNARLRT_HIDDEN void tx_end_if_over(void);

/*
 * guard_lock.c: mutexes. Before it is asked for; once it is held; likewise in other ways than by waiting at
 * a known place; while it is still held.
 */
SNARLRT_HIDDEN void guard_lock_before(const void *lock, uint64_t pc);
SNARLRT_HIDDEN void guard_lock_held(const void *lock);
SNARLRT_HIDDEN void guard_lock_unknown(const void *lock);
SNARLRT_HIDDEN void guard_unlock(const void *lock);
SNARLRT_HIDDEN void guard_held_add(const void *lock);
SNARLRT_HIDDEN void guard_held_remove(const void *lock);

#endif

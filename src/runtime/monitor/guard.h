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
	uint32_t slot;			/* of the thread that should move on, or MONITOR_ANY_THREAD */
	uint32_t access;			/* which of its accesses has to be followed by another one, plus 1; 0: that is not it */
	uint32_t *word, value;		/* a futex: what changes when it does */
	uint32_t *waiters;		/* NULL: nobody wakes us */
};

/* A delay, from the first conflict to the access. All zero access first. */
struct guard_delay {
	struct watchlog_record *record;
	uint64_t began;
	uint64_t slept_ns;	/* ns */
	bool settle;		/* what it waited for has only just begun */
	bool give_up;		/* go on, whatever is in the way */
};

SNARLRT_HIDDEN void guard_access(uint64_t tag, const struct active_site *site, bool write);
/* Before the first access of a transaction behind a gate (rules.h). */
SNARLRT_HIDDEN void guard_gate(const struct active_site *site);

/* guard_cancel.c: before a thread is cancelled. */
SNARLRT_HIDDEN void guard_cancel(uint64_t handle, uint64_t pc);

/* guard_wait.c: a little of the delay. Look again then; if `vain`, do not. */
SNARLRT_HIDDEN void guard_wait(struct guard_delay *d, const struct guard_conflict *c, uint32_t site);
SNARLRT_HIDDEN void guard_wait_end(struct guard_delay *d);
/* Is there so much waiting already that no more is allowed? */
SNARLRT_HIDDEN bool guard_over_budget(uint64_t now);

/* guard_pset.c, on a locked cell. */
SNARLRT_HIDDEN bool guard_pset_conflict(struct guard_cell *c, const struct active_site *site, bool write,
				  struct guard_conflict *out);
SNARLRT_HIDDEN void guard_pset_done(struct guard_cell *c, const struct active_site *site, bool write);

/* guard_tx.c, on a locked cell. `exclusive`: it writes, or will. */
SNARLRT_HIDDEN bool guard_tx_conflict(struct guard_cell *c, bool exclusive, struct guard_conflict *out);
SNARLRT_HIDDEN void guard_tx_done(struct guard_cell *c, const struct active_site *site, bool exclusive);
SNARLRT_HIDDEN bool guard_tx_exclusive(const struct active_site *site, bool write);

/* The transactions of the thread itself. */
SNARLRT_HIDDEN void guard_tx_before_access(const struct active_site *site);
SNARLRT_HIDDEN void guard_tx_begin_access(const struct active_site *site);
SNARLRT_HIDDEN void guard_tx_end(void);
SNARLRT_HIDDEN void guard_tx_end_if_tail(void);

/*
 * guard_lock.c: mutexes. Before it is asked for; once it is held; likewise in other ways than by waiting access
 * a known slot; while it is still held.
 */
SNARLRT_HIDDEN void guard_lock_before(const void *lock, uint64_t pc);
SNARLRT_HIDDEN void guard_lock_acquired(const void *lock);
SNARLRT_HIDDEN void guard_lock_acquired_elsewhere(const void *lock);
SNARLRT_HIDDEN void guard_unlock(const void *lock);
SNARLRT_HIDDEN void guard_held_add(const void *lock);
SNARLRT_HIDDEN void guard_held_remove(const void *lock);

#endif

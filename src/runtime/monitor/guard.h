/*
 * Mode guard: delays accesses whose order no passing run had (docs/guard.md).
 *
 * Guard only delays. The delays of one access take monitor.wait_ns at most. A thread never waits
 * for a thread that waits for it, be it in a delay or for a lock.
 */
#ifndef RUNTIME_MONITOR_GUARD_H
#define RUNTIME_MONITOR_GUARD_H

#include "runtime/monitor/cell.h"

/* Why an access must wait. */
struct guard_conflict {
	enum monitor_log_kind kind;	/* MONITOR_LOG_NONE: it need not */
	uint32_t site;			/* of the other thread's access; 0: none */
	/* of the thread that must go on to end the conflict, or MONITOR_ANY_THREAD */
	uint32_t slot;
	/*
	 * 1 + number (low 6 bits) of the access of thread `slot` that this one must not follow; 0:
	 * the conflict is not with an access.
	 */
	uint32_t access;
	/* futex that changes when the conflict may be over, and its value now */
	uint32_t *word, value;
	/* number of threads that wait on `word`; NULL: the futex is not woken */
	uint32_t *waiters;
};

/* The delays of one access, from the first conflict until the access is done. All zero at first. */
struct guard_delay {
	struct monitor_log_record *record;
	uint64_t began;
	uint64_t slept_ns;	/* time slept so far */
	bool settle;		/* the conflict ended with an access that may still be under way */
	bool give_up;		/* go on in spite of conflicts */
};

SNARLRT_HIDDEN void guard_access(uint64_t tag, const struct active_site *site, bool write);
/* Passes the site's gate (abi/rules_format.h), before the access. */
SNARLRT_HIDDEN void guard_gate(const struct active_site *site);

/* guard_cancel.c: before a thread is cancelled. */
SNARLRT_HIDDEN void guard_cancel(uint64_t handle, uint64_t pc);

/*
 * guard_wait.c: sleeps for a part of the delay; then the caller checks for conflicts again,
 * unless d->give_up is set.
 */
SNARLRT_HIDDEN void guard_wait(struct guard_delay *d, const struct guard_conflict *c,
			       uint32_t site);
SNARLRT_HIDDEN void guard_wait_end(struct guard_delay *d);
/* Have the delays of the process used up their share of its time? */
SNARLRT_HIDDEN bool guard_over_budget(uint64_t now);

/* guard_pset.c; the cell is locked by the caller. */
SNARLRT_HIDDEN bool guard_pset_conflict(struct guard_cell *c, const struct active_site *site,
					bool write, struct guard_conflict *out);
SNARLRT_HIDDEN void guard_pset_done(struct guard_cell *c, const struct active_site *site,
				    bool write);

/*
 * guard_transaction.c; the cell is locked by the caller. `exclusive`: the access writes, or its
 * transaction does.
 */
SNARLRT_HIDDEN bool guard_tx_conflict(struct guard_cell *c, bool exclusive,
				      struct guard_conflict *out);
SNARLRT_HIDDEN void guard_tx_done(struct guard_cell *c, const struct active_site *site,
				  bool exclusive);
SNARLRT_HIDDEN bool guard_tx_exclusive(const struct active_site *site, bool write);

/* The calling thread's own transactions. */
SNARLRT_HIDDEN void guard_tx_before_access(const struct active_site *site);
SNARLRT_HIDDEN void guard_tx_begin_access(const struct active_site *site);
SNARLRT_HIDDEN void guard_tx_end(void);
SNARLRT_HIDDEN void guard_tx_end_if_tail(void);

/* guard_lock.c: mutexes and held locks. */
SNARLRT_HIDDEN void guard_lock_before(const void *lock, uint64_t pc);	/* a blocking lock begins */
SNARLRT_HIDDEN void guard_lock_acquired(const void *lock);	/* it has ended */
/* The lock was taken by a trylock or timed lock, or again at the end of a condition wait. */
SNARLRT_HIDDEN void guard_lock_acquired_elsewhere(const void *lock);
SNARLRT_HIDDEN void guard_unlock(const void *lock);	/* it is still held */
/* The thread holds a lock of any kind, or holds it no longer. */
SNARLRT_HIDDEN void guard_held_add(const void *lock);
SNARLRT_HIDDEN void guard_held_remove(const void *lock);

#endif

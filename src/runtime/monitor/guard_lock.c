/*
 * Guard: the delay loop of an access, and mutexes.
 *
 * A delay has no effect if the delayed thread holds a lock that the transaction under way needs
 * next. So a transaction that accesses memory under a lock and releases the lock also marks the
 * cell of the lock. Other threads are then delayed before they take the lock. If the mark is set
 * after that check, but before the thread has the lock, the thread releases the lock at once and
 * takes it again later. It accessed nothing under the lock, so the program cannot notice.
 */
#include <pthread.h>

#include "runtime/core/real.h"
#include "runtime/monitor/guard.h"

static bool conflict(struct guard_cell *c, const struct active_site *site, bool write,
		     bool exclusive, struct guard_conflict *out)
{
	return (monitor.tx && guard_tx_conflict(c, exclusive, out)) ||
	       (monitor.pset && guard_pset_conflict(c, site, write, out));
}

void guard_access(uint64_t tag, const struct active_site *site, bool write)
{
	bool exclusive = monitor.tx && guard_tx_exclusive(site, write);
	struct guard_delay delay = { 0 };
	struct guard_conflict other;
	struct guard_cell *c;

	if (monitor.tx)
		guard_tx_before_access(site);
	while ((c = guard_cell_lock(tag)) && !delay.give_up &&
	       conflict(c, site, write, exclusive, &other)) {
		guard_cell_unlock(c);
		guard_wait(&delay, &other, site->number);
	}
	if (monitor.tx)
		guard_tx_begin_access(site);
	if (c) {
		if (monitor.pset)
			guard_pset_done(c, site, write);
		if (monitor.tx)
			guard_tx_done(c, site, exclusive);
		guard_cell_changed(c);
		guard_cell_unlock(c);
	}
	guard_wait_end(&delay);
}

/* To guard_transaction.c, a transaction that passes a gate is one that writes the gate's cell. */
void guard_gate(const struct active_site *site)
{
	uint64_t tag = site->flags >> RULES_GATE_SHIFT | CELL_TAG_GATE;
	struct guard_delay delay = { 0 };
	struct guard_conflict other;
	struct guard_cell *c;

	guard_tx_before_access(site);
	while ((c = guard_cell_lock(tag)) && !delay.give_up && guard_tx_conflict(c, true, &other)) {
		guard_cell_unlock(c);
		guard_wait(&delay, &other, site->number);
	}
	guard_tx_begin_access(site);
	if (c) {
		guard_tx_done(c, site, true);
		guard_cell_unlock(c);
	}
	guard_wait_end(&delay);
}

void guard_held_add(const void *lock)
{
	struct monitor_thread *me = monitor_me();

	for (unsigned i = 0; i < MONITOR_HELD_LOCKS; i++)
		if (!me->held[i]) {
			__atomic_store_n(&me->held[i], (uint64_t)lock & ~1ull, __ATOMIC_RELAXED);
			return;
		}
}

void guard_held_remove(const void *lock)
{
	struct monitor_thread *me = monitor_me();

	for (unsigned i = MONITOR_HELD_LOCKS; i-- > 0;)
		if ((me->held[i] & ~1ull) == ((uint64_t)lock & ~1ull)) {
			__atomic_store_n(&me->held[i], 0, __ATOMIC_RELAXED);
			return;
		}
}

static uint64_t lock_tag(const void *lock)
{
	return (uint64_t)lock >> 3 | CELL_TAG_LOCK;
}

static bool lock_conflict(const void *lock, const struct active_site *site,
			  struct guard_conflict *out)
{
	struct guard_cell *c = guard_cell_lock(lock_tag(lock));
	bool found = c && ((monitor.tx && guard_tx_conflict(c, true, out)) ||
			   (monitor.locks && site && guard_pset_conflict(c, site, true, out)));

	if (c)
		guard_cell_unlock(c);
	return found;
}

static void lock_wait(struct guard_delay *delay, const struct guard_conflict *c,
		      const struct active_site *site)
{
	guard_wait(delay, c, c->kind == MONITOR_LOG_PSET ? site->number : 0);
}

/*
 * Did the thread of `l` pass the gate, and has made no blocking call since, except for locks? Other
 * blocking calls reset blocked_on.
 */
static bool is_inside_gate(const struct guard_cell_access *l)
{
	const struct monitor_thread *t = &monitor.threads[l->slot];

	return l->site && l->serial != (uint16_t)monitor_self.serial &&
	       (uint16_t)__atomic_load_n(&t->serial, __ATOMIC_RELAXED) == l->serial &&
	       __atomic_load_n(&t->blocked_on, __ATOMIC_RELAXED);
}

/*
 * With protect=pset there are no transactions that pass gates. Instead, a thread passes the gate
 * where it takes the first lock of a cycle.
 */
static void pass_gate(const void *lock, const struct active_site *site)
{
	struct guard_delay delay = { 0 };
	struct guard_cell *c;

	while ((c = guard_cell_lock(site->flags >> RULES_GATE_SHIFT | CELL_TAG_GATE)) &&
	       !delay.give_up && is_inside_gate(&c->write)) {
		struct guard_conflict other = { .kind = MONITOR_LOG_PSET,
						.site = c->write.site,
						.slot = c->write.slot,
						.word = &c->version,
						.value = c->version };

		guard_cell_unlock(c);
		guard_wait(&delay, &other, site->number);
	}
	if (c) {
		__atomic_store_n(&monitor_me()->blocked_on, (uint64_t)lock & ~1ull,
				 __ATOMIC_RELAXED);
		guard_pset_done(c, site, true);
		guard_cell_changed(c);
		guard_cell_unlock(c);
	}
	guard_wait_end(&delay);
}

void guard_lock_before(const void *lock, uint64_t pc)
{
	const struct active_site *site = rules_find(pc, true);
	struct guard_delay delay = { 0 };
	struct guard_conflict other;

	if (monitor.tx && site && site->flags >> RULES_GATE_SHIFT && monitor_self.tx_depth)
		guard_gate(site);
	else if (!monitor.tx && site && site->flags >> RULES_GATE_SHIFT)
		pass_gate(lock, site);
	monitor_self.asked_site = site;
	monitor_self.asked_lock = lock;
	while ((monitor.tx || site) && !delay.give_up && lock_conflict(lock, site, &other))
		lock_wait(&delay, &other, site);
	guard_wait_end(&delay);
}

/*
 * Makes the site the last write of the lock, so that the next thread that takes it is compared
 * with it.
 */
static void lock_taken(const void *lock, const struct active_site *site)
{
	struct guard_cell *c = guard_cell_lock(lock_tag(lock));

	if (!c)
		return;
	if (site)
		guard_pset_done(c, site, true);
	else
		c->write.site = 0;
	guard_cell_changed(c);
	guard_cell_unlock(c);
}

void guard_lock_acquired_elsewhere(const void *lock)
{
	if (monitor.locks)
		lock_taken(lock, NULL);
}

/*
 * Recursive and error-checking mutexes are not released and taken again: their owner may know
 * the difference.
 */
static bool is_plain(const pthread_mutex_t *m)
{
	return m->__data.__kind == PTHREAD_MUTEX_TIMED_NP ||
	       m->__data.__kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

void guard_lock_acquired(const void *lock)
{
	const struct active_site *site =
		monitor_self.asked_lock == lock ? monitor_self.asked_site : NULL;
	pthread_mutex_t *m = (pthread_mutex_t *)lock;
	struct guard_delay delay = { 0 };
	struct guard_conflict other;

	while ((monitor.tx || site) && is_plain(m) && !delay.give_up &&
	       lock_conflict(lock, site, &other)) {
		REAL(pthread_mutex_unlock)(m);
		lock_wait(&delay, &other, site);
		monitor_me()->state = MONITOR_BLOCKED;
		REAL(pthread_mutex_lock)(m);
		monitor_me()->state = MONITOR_RUNNING;
	}
	guard_wait_end(&delay);
	if (monitor.locks && site)	/* no rule names another site as a predecessor */
		lock_taken(lock, site);
}

void guard_unlock(const void *lock)
{
	struct monitor_thread *me = monitor_me();
	struct guard_cell *c;
	bool touched = false;

	guard_tx_end_if_tail();
	for (unsigned i = 0; i < MONITOR_HELD_LOCKS; i++)
		touched |= me->held[i] == ((uint64_t)lock | 1);
	if (!touched || !(me->epoch & 1))
		return;
	c = guard_cell_lock(lock_tag(lock));
	if (!c)
		return;
	guard_tx_done(c, NULL, true);
	guard_cell_unlock(c);
}

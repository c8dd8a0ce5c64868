/*
 * Accesses, and the locks around them.
 *
 * A thread that is delayed while it holds a lock which the transaction needs to get on would be delayed
 * in vain. So a transaction that touched memory under a lock and let it go leaves its
 * mark at the lock as well, and others are delayed before they take it; or, should that
 * have come between, give it back at once and take it again later, which nobody can see.
 */
#include <pthread.h>

#include "runtime/core/real.h"
#include "runtime/monitor/guard.h"

static bool conflict(struct cell *c, const struct rules_place *place, bool write, bool exclusive,
		     struct guard_conflict *out)
{
	return (watch.tx && tx_conflict(c, exclusive, out)) ||
	       (watch.pset && pset_conflict(c, place, write, out));
}

void guard_access(uint64_t tag, const struct rules_place *place, bool write)
{
	bool exclusive = watch.tx && tx_exclusive(place, write);
	struct guard_delay delay = { 0 };
	struct guard_conflict in_the_way;
	struct cell *c;

	if (watch.tx)
		tx_before_access(place);
	while ((c = cell_lock(tag)) && !delay.vain &&
	       conflict(c, place, write, exclusive, &in_the_way)) {
		cell_unlock(c);
		guard_wait(&delay, &in_the_way, place->site);
	}
	if (watch.tx)
		tx_begin_access(place);
	if (c) {
		if (watch.pset)
			pset_done(c, place, write);
		if (watch.tx)
			tx_done(c, place, exclusive);
		cell_moved(c);
		cell_unlock(c);
	}
	guard_wait_end(&delay);
}

/* Whoever is in a transaction behind it has the gate's cell for its own, as if it were memory. */
void guard_gate(const struct rules_place *place)
{
	uint64_t tag = place->flags >> RULES_GATE_SHIFT | CELL_GATE;
	struct guard_delay delay = { 0 };
	struct guard_conflict in_the_way;
	struct cell *c;

	tx_before_access(place);
	while ((c = cell_lock(tag)) && !delay.vain && tx_conflict(c, true, &in_the_way)) {
		cell_unlock(c);
		guard_wait(&delay, &in_the_way, place->site);
	}
	tx_begin_access(place);
	if (c) {
		tx_done(c, place, true);
		cell_unlock(c);
	}
	guard_wait_end(&delay);
}

void guard_held_add(const void *lock)
{
	struct watch_thread *me = watch_me();

	for (unsigned i = 0; i < WATCH_HELD; i++)
		if (!me->held[i]) {
			__atomic_store_n(&me->held[i], (uint64_t)lock & ~1ull, __ATOMIC_RELAXED);
			return;
		}
}

void guard_held_remove(const void *lock)
{
	struct watch_thread *me = watch_me();

	for (unsigned i = WATCH_HELD; i-- > 0;)
		if ((me->held[i] & ~1ull) == ((uint64_t)lock & ~1ull)) {
			__atomic_store_n(&me->held[i], 0, __ATOMIC_RELAXED);
			return;
		}
}

static uint64_t lock_tag(const void *lock)
{
	return (uint64_t)lock >> 3 | CELL_LOCK;
}

static bool lock_conflict(const void *lock, const struct rules_place *place, struct guard_conflict *out)
{
	struct cell *c = cell_lock(lock_tag(lock));
	bool found = c && ((watch.tx && tx_conflict(c, true, out)) ||
			   (watch.locks && place && pset_conflict(c, place, true, out)));

	if (c)
		cell_unlock(c);
	return found;
}

static void lock_wait(struct guard_delay *delay, const struct guard_conflict *c, const struct rules_place *place)
{
	guard_wait(delay, c, c->kind == WATCHLOG_PSET ? place->site : 0);
}

/* Has the thread passed its gate, and neither ended nor rested since? The last that it asked for is a lock, then. */
static bool within(const struct cell_last *l)
{
	const struct watch_thread *t = &watch.threads[l->place];

	return l->site && l->serial != (uint16_t)watch_self.serial &&
	       (uint16_t)__atomic_load_n(&t->serial, __ATOMIC_RELAXED) == l->serial &&
	       __atomic_load_n(&t->blocked_on, __ATOMIC_RELAXED);
}

/* Without transactions, which would pass the gate, whoever takes the first lock does. */
static void pass_gate(const void *lock, const struct rules_place *place)
{
	struct guard_delay delay = { 0 };
	struct cell *c;

	while ((c = cell_lock(place->flags >> RULES_GATE_SHIFT | CELL_GATE)) && !delay.vain && within(&c->write)) {
		struct guard_conflict other = { .kind = WATCHLOG_PSET, .site = c->write.site, .place = c->write.place,
						.word = &c->version, .value = c->version };

		cell_unlock(c);
		guard_wait(&delay, &other, place->site);
	}
	if (c) {
		__atomic_store_n(&watch_me()->blocked_on, (uint64_t)lock & ~1ull, __ATOMIC_RELAXED);
		pset_done(c, place, true);
		cell_moved(c);
		cell_unlock(c);
	}
	guard_wait_end(&delay);
}

void guard_lock_before(const void *lock, uint64_t pc)
{
	const struct rules_place *place = rules_find(pc, true);
	struct guard_delay delay = { 0 };
	struct guard_conflict in_the_way;

	if (watch.tx && place && place->flags >> RULES_GATE_SHIFT && watch_self.root)
		guard_gate(place);
	else if (!watch.tx && place && place->flags >> RULES_GATE_SHIFT)
		pass_gate(lock, place);
	watch_self.taking = place;
	watch_self.taken = lock;
	while ((watch.tx || place) && !delay.vain && lock_conflict(lock, place, &in_the_way))
		lock_wait(&delay, &in_the_way, place);
	guard_wait_end(&delay);
}

/* The next one to take it comes after us. */
static void lock_taken(const void *lock, const struct rules_place *place)
{
	struct cell *c = cell_lock(lock_tag(lock));

	if (!c)
		return;
	if (place)
		pset_done(c, place, true);
	else
		c->write.site = 0;
	cell_moved(c);
	cell_unlock(c);
}

void guard_lock_unknown(const void *lock)
{
	if (watch.locks)
		lock_taken(lock, NULL);
}

/* Not for mutexes that count or check: those are their owners' business. */
static bool is_plain(const pthread_mutex_t *m)
{
	return m->__data.__kind == PTHREAD_MUTEX_TIMED_NP || m->__data.__kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

void guard_lock_held(const void *lock)
{
	const struct rules_place *place = watch_self.taken == lock ? watch_self.taking : NULL;
	pthread_mutex_t *m = (pthread_mutex_t *)lock;
	struct guard_delay delay = { 0 };
	struct guard_conflict in_the_way;

	while ((watch.tx || place) && is_plain(m) && !delay.vain && lock_conflict(lock, place, &in_the_way)) {
		REAL(pthread_mutex_unlock)(m);
		lock_wait(&delay, &in_the_way, place);
		watch_me()->state = WATCH_BLOCKED;
		REAL(pthread_mutex_lock)(m);
		watch_me()->state = WATCH_RUNNING;
	}
	guard_wait_end(&delay);
	if (watch.locks && place)	/* others are never in the way */
		lock_taken(lock, place);
}

void guard_unlock(const void *lock)
{
	struct watch_thread *me = watch_me();
	struct cell *c;
	bool touched = false;

	tx_end_if_over();
	for (unsigned i = 0; i < WATCH_HELD; i++)
		touched |= me->held[i] == ((uint64_t)lock | 1);
	if (!touched || !(me->epoch & 1))
		return;
	c = cell_lock(lock_tag(lock));
	if (!c)
		return;
	tx_done(c, NULL, true);
	cell_unlock(c);
}

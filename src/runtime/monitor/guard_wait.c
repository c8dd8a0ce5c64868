/*
 * How long guard waits, and for which thread.
 *
 * A thread publishes which thread it waits for, and then checks whether that thread can run. If two
 * threads would wait for each other, at least one of them notices and goes on, at once or when it
 * checks again.
 */
#include <linux/futex.h>
#include <time.h>

#include "runtime/core/sys.h"
#include "runtime/monitor/guard.h"

#define NAP_NS 100000u		/* one sleep; afterwards the thread checks again */
/* Most that one sleep counts: in a longer one, the other thread may have had no processor. */
#define NAP_CHARGE_MAX_NS 200000u
#define STRETCH_MAX 5u		/* real time of a delay, at most this many times wait_ns */
/* After this many time-outs a pair of sites is delayed only if four times as many delays helped. */
#define TIMEOUTS_ALLOWED 2u
#define HOPS 64		/* of a chain of waiting threads; a longer one counts as a cycle */
/* All delays of a process may take BUDGET_FREE_NS, and 1 / BUDGET_SHARE of its time so far. */
#define BUDGET_FREE_NS 250000000u
#define BUDGET_SHARE 20
#define SETTLE_TICKS 60000u	/* about 20 us at 3 GHz: longer than an access takes */

static uint32_t holder_of(uint64_t lock)
{
	uint32_t used = __atomic_load_n(&monitor.threads_used, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < used; i++)
		for (uint32_t k = 0; k < MONITOR_HELD_LOCKS; k++)
			if ((__atomic_load_n(&monitor.threads[i].held[k], __ATOMIC_RELAXED) &
			     ~1ull) == lock)
				return i;
	return MONITOR_ANY_THREAD;
}

/*
 * Follows the chain of waiting threads from `slot`. True if it ends at a running thread other
 * than the caller.
 */
static bool can_proceed(uint32_t slot)
{
	uint32_t me = monitor_self.slot - 1;

	for (int i = 0; i < HOPS; i++) {
		struct monitor_thread *t = &monitor.threads[slot];
		uint64_t lock;

		if (slot == me || !__atomic_load_n(&t->serial, __ATOMIC_RELAXED))
			return false;
		switch (__atomic_load_n(&t->state, __ATOMIC_SEQ_CST)) {
		case MONITOR_RUNNING:
			return true;
		case MONITOR_DELAYED:
			slot = __atomic_load_n(&t->waiting_for, __ATOMIC_SEQ_CST);
			break;
		default:
			lock = __atomic_load_n(&t->blocked_on, __ATOMIC_RELAXED);
			slot = lock ? holder_of(lock) : MONITOR_ANY_THREAD;
		}
		if (slot == MONITOR_ANY_THREAD)
			return false;
	}
	return false;
}

static bool any_thread_runs(void)
{
	uint32_t used = __atomic_load_n(&monitor.threads_used, __ATOMIC_RELAXED);

	if (__atomic_load_n(&monitor.unattached, __ATOMIC_SEQ_CST))
		return true;
	for (uint32_t i = 0; i < used; i++)
		if (i != monitor_self.slot - 1 &&
		    __atomic_load_n(&monitor.threads[i].serial, __ATOMIC_RELAXED) &&
		    __atomic_load_n(&monitor.threads[i].state, __ATOMIC_SEQ_CST) == MONITOR_RUNNING)
			return true;
	return false;
}

/* Bounds the slowdown by conflicts that occur all the time. */
bool guard_over_budget(uint64_t now)
{
	uint64_t waited = __atomic_load_n(&monitor.waited_ns, __ATOMIC_RELAXED);

	return waited > BUDGET_FREE_NS &&
	       waited - BUDGET_FREE_NS > (now - monitor.started) / BUDGET_SHARE;
}

static bool begin(struct guard_delay *d, const struct guard_conflict *c, uint32_t site)
{
	struct monitor_log_record *r = monitor_log_record(c->kind, c->site, site, 0);
	uint64_t timed_out;

	d->began = sys_clock_ns(CLOCK_MONOTONIC);
	d->record = r;
	if (!r)
		return false;
	monitor_count(&r->count, 1);
	r->thread[0] = monitor_self.serial;
	if ((monitor_self.timed_out_word == c->word && monitor_self.timed_out_value == c->value) ||
	    guard_over_budget(d->began))
		return false;
	timed_out = __atomic_load_n(&r->timed_out, __ATOMIC_RELAXED);
	return timed_out < TIMEOUTS_ALLOWED ||
	       timed_out <= __atomic_load_n(&r->resolved, __ATOMIC_RELAXED) / 4;
}

/* Ends the delay, which cannot help. Not counted as a time-out. */
static void give_up_at_once(struct guard_delay *d)
{
	d->give_up = true;
	if (d->record)
		monitor_count(&d->record->passed, 1);
}

/*
 * Two threads wait for each other if each has begun a pair that the other's access must not split.
 * The one that did more accesses since then has probably left its pair, and waits. The other one
 * computes the same when it checks again, and goes on.
 */
static bool gives_way(const struct guard_conflict *c)
{
	uint32_t mine, other, slot = monitor_self.slot - 1;
	const struct monitor_thread *t =
		c->slot == MONITOR_ANY_THREAD ? NULL : &monitor.threads[c->slot];

	if (!c->access || !t || __atomic_load_n(&t->state, __ATOMIC_SEQ_CST) != MONITOR_DELAYED ||
	    __atomic_load_n(&t->waiting_for, __ATOMIC_RELAXED) != slot)
		return false;
	mine = __atomic_load_n(&t->waiting_access, __ATOMIC_RELAXED);
	if (!mine)
		return false;
	mine = (monitor_me()->accesses - (mine - 1)) & CELL_ACCESS_MASK;
	other = (__atomic_load_n(&t->accesses, __ATOMIC_RELAXED) - (c->access - 1)) &
		CELL_ACCESS_MASK;
	return mine == other ? slot > c->slot : mine > other;
}

static bool can_wait(const struct guard_conflict *c)
{
	if (monitor.log->off)
		return false;
	return c->slot == MONITOR_ANY_THREAD ? any_thread_runs()
					     : can_proceed(c->slot) || gives_way(c);
}

void guard_wait(struct guard_delay *d, const struct guard_conflict *c, uint32_t site)
{
	struct monitor_thread *me = monitor_me();
	struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t now, left;

	if (!d->began && !begin(d, c, site)) {
		give_up_at_once(d);
		return;
	}
	now = sys_clock_ns(CLOCK_MONOTONIC);
	if (d->slept_ns >= monitor.wait_ns || now - d->began >= STRETCH_MAX * monitor.wait_ns) {
		d->give_up = true;
		monitor_self.timed_out_word = c->word;
		monitor_self.timed_out_value = c->value;
		monitor_count(&d->record->timed_out, 1);
		return;
	}
	left = monitor.wait_ns - d->slept_ns;
	if (left < NAP_NS)
		nap.tv_nsec = (long)left;
	__atomic_store_n(&me->waiting_access, c->access, __ATOMIC_RELAXED);
	__atomic_store_n(&me->waiting_for, c->slot, __ATOMIC_RELAXED);
	__atomic_store_n(&me->state, MONITOR_DELAYED, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!can_wait(c)) {
		give_up_at_once(d);
	} else {
		d->settle = !c->waiters;
		if (c->waiters)
			__atomic_fetch_add(c->waiters, 1, __ATOMIC_SEQ_CST);
		sys_call6(SYS_futex, (long)c->word, FUTEX_WAIT_PRIVATE, c->value, (long)&nap, 0, 0);
		if (c->waiters)
			__atomic_fetch_sub(c->waiters, 1, __ATOMIC_RELAXED);
		now = sys_clock_ns(CLOCK_MONOTONIC) - now;
		d->slept_ns += now < NAP_CHARGE_MAX_NS ? now : NAP_CHARGE_MAX_NS;
	}
	__atomic_store_n(&me->state, MONITOR_RUNNING, __ATOMIC_SEQ_CST);
}

/* The runtime sees an access just before it is done: gives the other thread time to do it. */
static void settle(void)
{
	uint64_t since = sys_ticks();

	while (sys_ticks() - since < SETTLE_TICKS)
		sys_pause();
}

void guard_wait_end(struct guard_delay *d)
{
	struct monitor_log_record *r = d->record;
	uint64_t took, longest;

	if (!r)
		return;
	if (d->settle && !d->give_up)
		settle();
	took = sys_clock_ns(CLOCK_MONOTONIC) - d->began;
	if (!d->give_up)
		monitor_count(&r->resolved, 1);
	monitor_count(&r->wait_ns, took);
	monitor_count(&monitor.waited_ns, took);
	longest = __atomic_load_n(&r->longest_ns, __ATOMIC_RELAXED);
	while (took > longest &&
	       !__atomic_compare_exchange_n(&r->longest_ns, &longest, took, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

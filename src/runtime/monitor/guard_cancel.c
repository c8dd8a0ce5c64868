/*
 * Guard, pthread_cancel(): a cancelled thread ends at its next cancellation point, perhaps while
 * it holds a lock that is then never released. If in all passing runs the cancelled threads were
 * in a blocking call and held no lock, the cancellation waits until that is true.
 */
#include "runtime/monitor/guard.h"

/* Finds a thread by its handle. NULL: it has ended, or is not known. */
static const struct monitor_thread *thread_of(uint64_t handle)
{
	uint32_t used = __atomic_load_n(&monitor.threads_used, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < used; i++)
		if (__atomic_load_n(&monitor.threads[i].serial, __ATOMIC_ACQUIRE) &&
		    monitor.threads[i].handle == handle)
			return &monitor.threads[i];
	return NULL;
}

/* Is the thread in a blocking call other than for a lock, and holds no lock? */
static bool is_safe_to_cancel(const struct monitor_thread *t)
{
	uint64_t holds = 0;

	for (unsigned i = 0; i < MONITOR_HELD_LOCKS; i++)
		holds |= __atomic_load_n(&t->held[i], __ATOMIC_RELAXED);
	return !holds && __atomic_load_n(&t->state, __ATOMIC_SEQ_CST) == MONITOR_BLOCKED &&
	       !__atomic_load_n(&t->blocked_on, __ATOMIC_RELAXED);
}

void guard_cancel(uint64_t handle, uint64_t pc)
{
	const struct active_site *site = rules_find(pc, true);
	struct guard_delay delay = { 0 };
	const struct monitor_thread *t;
	uint32_t never_changes = 0;

	if (!site || (site->flags & (RULES_CANCEL | RULES_LATE)) != (RULES_CANCEL | RULES_LATE))
		return;
	while (!delay.give_up) {
		struct guard_conflict busy = { .kind = MONITOR_LOG_PSET,
					       .slot = MONITOR_ANY_THREAD,
					       .word = &never_changes };

		t = thread_of(handle);
		if (t ? t == monitor_me() || is_safe_to_cancel(t)
		      : !__atomic_load_n(&monitor.unattached, __ATOMIC_SEQ_CST))
			break;
		if (t)
			busy.slot = (uint32_t)(t - monitor.threads);
		guard_wait(&delay, &busy, site->number);
	}
	guard_wait_end(&delay);
}

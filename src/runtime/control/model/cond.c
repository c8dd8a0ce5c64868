/*
 * Condition variables, and the wait sets that futexes use, too. The object holds no state: its
 * wait set are the threads whose ctl_thread.wait_set is its address. The clock is read from what
 * the real init has left.
 *
 * A wait has three steps. The thread releases the mutex and joins the wait set. It leaves the set:
 * woken, timed out, cancelled or spuriously. It acquires the mutex. If a signal chooses a thread
 * that has timed out but not yet run on, the thread counts as woken. The same holds for a
 * cancelled thread: it returns and is cancelled at its next cancellation point. So no signal is
 * lost.
 */
#include "runtime/control/model/models.h"

#define WREFS_MONOTONIC 2u	/* glibc: the clock is CLOCK_MONOTONIC */
#define WREFS_DESTROYED 4u	/* glibc: set by the real destroy */

#define SPURIOUS_MAX 2u		/* per thread, in a row: then a missing signal is a deadlock */

static uint64_t arrivals;
static uint8_t spurious[SCHED_MAX_THREADS];	/* by number, since last woken */

void model_wait_set_join(const void *object)
{
	ctl_self()->wait_set = object;
	ctl_self()->wait_set_order = ++arrivals;
}

bool model_wait_set_leave(const void *object)
{
	bool was_there = ctl_self()->wait_set == object;

	ctl_self()->wait_set = NULL;
	return was_there;
}

bool model_wait_set_left(const struct ctl_wait *w)
{
	return !ctl.threads[w->thread]->wait_set;
}

static bool may_return(const struct ctl_wait *w)
{
	return model_wait_set_left(w) ||
	       (ctl.flags & CTL_SPURIOUS && spurious[w->thread] < SPURIOUS_MAX);
}

/* The threads in the wait set, in order of arrival. Valid until the next call. */
static uint32_t *members(const void *object, model_wait_set_filter *wanted, uint64_t arg,
			 uint32_t *count)
{
	static uint32_t found[SCHED_MAX_THREADS] SNARLRT_BIG;
	uint32_t n = 0;

	for (uint32_t i = 0; i < ctl.count; i++) {
		const struct ctl_thread *t = ctl.threads[i];
		uint32_t at = n;

		if (!t || t->state != CTL_LIVE || t->wait_set != object ||
		    (wanted && !wanted(t, arg)))
			continue;
		for (; at > 0 && ctl.threads[found[at - 1]]->wait_set_order > t->wait_set_order;
		     at--)
			found[at] = found[at - 1];
		found[at] = i;
		n++;
	}
	*count = n;
	return found;
}

/* Wakes the thread. After a requeue its wait still names the old object. */
static void remove_and_wake(struct ctl_thread *t)
{
	t->wait_set = NULL;
	if (t->wait)
		ctl_changed((const void *)(uintptr_t)t->wait->event.object);
}

uint32_t model_wait_set_wake(const void *object, uint32_t most, model_wait_set_filter *wanted,
			     uint64_t arg)
{
	uint32_t left, woken = 0;
	uint32_t *set = members(object, wanted, arg, &left);

	for (; left > 0 && woken < most; woken++) {
		uint32_t chosen = left > most - woken ? ctl_choose_thread(set, left) : set[0];
		uint32_t at = 0;

		while (set[at] != chosen)
			at++;
		left--;
		for (; at < left; at++)
			set[at] = set[at + 1];
		remove_and_wake(ctl.threads[chosen]);
	}
	return woken;
}

uint32_t model_wait_set_move(const void *from, const void *to, uint32_t most)
{
	uint32_t count, moved = 0;
	uint32_t *set = members(from, NULL, 0, &count);

	for (; moved < count && moved < most; moved++) {
		ctl.threads[set[moved]]->wait_set = to;
		ctl.threads[set[moved]]->wait_set_order = ++arrivals;
	}
	return moved;
}

static void check_usable(const pthread_cond_t *cond, const void *pc)
{
	if (cond->__data.__wrefs & WREFS_DESTROYED)
		ctl_misuse(cond, pc, "use of a condition variable that was destroyed");
}

/* Releases the mutex, waits, acquires it again. Sets *cancelled if cancellation ended the wait. */
static int wait_for(struct ctl_wait *asleep, pthread_cond_t *cond, pthread_mutex_t *mutex,
		    const void *pc, bool *cancelled)
{
	int result = 0, got;

	ctl_object_used(TRACE_MUTEX_UNLOCK, mutex, 0, pc);
	if (!model_mutex_is_held_by_self(mutex) && !model_mutex_checks_owner(mutex))
		ctl_misuse(mutex, pc, "wait for a condition without holding the mutex");
	got = model_mutex_wait_unlock(mutex);
	if (got)
		return got;
	model_wait_set_join(cond);
	model_sleep(asleep, TRACE_COND_WAIT);
	if (!asleep->arg)
		ctl_object_used(TRACE_COND_WAKE, cond, (uintptr_t)mutex, pc);
	if (!model_wait_set_leave(cond)) {
		spurious[asleep->thread] = 0;
	} else {
		*cancelled = asleep->cancelled;
		result = model_timed_out(asleep) ? ETIMEDOUT : 0;
		if (!*cancelled && !result)
			spurious[asleep->thread]++;
	}
	got = model_mutex_wait_relock(mutex, pc);
	return got ? got : result;
}

static int wait_noted(struct ctl_wait *asleep, pthread_cond_t *cond, pthread_mutex_t *mutex,
		      bool valid, unsigned detail, const void *pc)
{
	bool cancelled = false;
	int result = EINVAL;

	ctl_point(SCHED_OP_WAIT, cond, pc);
	ctl_object_used(TRACE_COND_WAIT, cond, (uintptr_t)mutex, pc);
	snarlrt_note(TRACE_COND_WAIT, detail, cond, (uintptr_t)mutex, 0, pc);
	check_usable(cond, pc);
	asleep->cancel_point = true;
	asleep->hide_site = true;	/* a trace has the events before and after this one */
	if (valid)
		result = wait_for(asleep, cond, mutex, pc, &cancelled);
	if (cancelled) {
		detail |= TRACE_UNWOUND;
		snarlrt_note(TRACE_COND_WAKE, detail, cond, (uintptr_t)mutex, ECANCELED, pc);
		ctl_cancel_act();
		return 0;
	}
	snarlrt_note(TRACE_COND_WAKE, detail, cond, (uintptr_t)mutex, result, pc);
	return result;
}

int model_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, unsigned detail, const void *pc)
{
	struct ctl_wait asleep = CTL_WAIT(SCHED_OP_WAIT, cond, may_return, pc);

	return wait_noted(&asleep, cond, mutex, true, detail, pc);
}

int model_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
			 const struct timespec *limit, unsigned detail, const void *pc)
{
	struct ctl_wait asleep = CTL_WAIT(SCHED_OP_WAIT, cond, may_return, pc);
	bool valid;

	if (clock == MODEL_COND_CLOCK)
		clock = cond->__data.__wrefs & WREFS_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	valid = model_clock_known(clock) && model_limit_valid(limit);
	if (valid)
		model_set_deadline(&asleep, ctl_deadline(clock, limit));
	return wait_noted(&asleep, cond, mutex, valid, detail | TRACE_TIMED, pc);
}

int model_cond_signal(pthread_cond_t *cond, unsigned detail, const void *pc)
{
	model_point(SCHED_OP_WAKE, TRACE_COND_SIGNAL, cond, pc);
	snarlrt_note(TRACE_COND_SIGNAL, detail, cond, 0, 0, pc);
	check_usable(cond, pc);
	model_wait_set_wake(cond, 1, NULL, 0);
	return 0;
}

int model_cond_broadcast(pthread_cond_t *cond, unsigned detail, const void *pc)
{
	model_point(SCHED_OP_WAKE, TRACE_COND_BROADCAST, cond, pc);
	snarlrt_note(TRACE_COND_BROADCAST, detail, cond, 0, 0, pc);
	check_usable(cond, pc);
	model_wait_set_wake(cond, UINT32_MAX, NULL, 0);
	return 0;
}

/*
 * Threads that were woken but have not run yet do not use the condition any more: libc's destroy
 * waits until they have left, and then the memory may be freed.
 */
static void release_woken(const pthread_cond_t *cond)
{
	for (uint32_t i = 0; i < ctl.count; i++) {
		struct ctl_thread *t = ctl.threads[i];

		if (t->state == CTL_LIVE && t->wait && t->wait->event.op == SCHED_OP_WAIT &&
		    t->wait->event.object == (uint64_t)(uintptr_t)cond && !t->wait_set)
			t->wait->arg = t;
	}
}

/* Woken threads may still wait for their mutex, but do not use the condition any more. */
void model_cond_destroying(pthread_cond_t *cond, const void *pc)
{
	uint32_t count;

	model_point(SCHED_OP_OTHER, TRACE_COND_DESTROY, cond, pc);
	check_usable(cond, pc);
	members(cond, NULL, 0, &count);
	if (count)
		ctl_misuse(cond, pc, "destruction of a condition variable that threads wait for");
	release_woken(cond);
}

/*
 * Semaphores, named ones included. The value is where libc keeps it, in the low half of the first
 * word, so that sem_getvalue reads it. The high half, libc's number of waiters, stays 0.
 */
#include "runtime/control/model/models.h"

#include <limits.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the value of a semaphore is not in the low half"
#endif

static inline uint32_t *value_of(sem_t *sem)
{
	return (uint32_t *)(void *)sem;
}

static bool is_positive(const struct ctl_wait *w)
{
	return *(const uint32_t *)(uintptr_t)w->event.object > 0;
}

static void take(sem_t *sem)
{
	--*value_of(sem);
	ctl_changed(sem);
}

/* Returns 0 or the error. */
static int wait_for(struct ctl_wait *w, sem_t *sem, enum trace_kind kind)
{
	bool restartable = w->deadline == CTL_NEVER;	/* SA_RESTART applies to sem_wait only */

	ctl_object_used(kind, sem, 0, (const void *)(uintptr_t)w->event.site);
	w->cancel_point = w->interruptible = true;
	snarlrt_wait_begin(kind, sem, (const void *)(uintptr_t)w->event.site);
	do {
		w->interrupted = ctl_signal_due(ctl_self());
		ctl_wait(w);
	} while (w->interrupted && !w->expired && !w->cancelled && !is_positive(w) &&
		 !ctl_signal_ends_call(restartable));
	snarlrt_wait_end();
	ctl_object_used(kind, sem, 0, (const void *)(uintptr_t)w->event.site);
	if (w->cancelled)
		return ECANCELED;
	if (is_positive(w)) {
		take(sem);
		return 0;
	}
	return model_timed_out(w) ? ETIMEDOUT : EINTR;
}

static int answer(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

static int wait_noted(struct ctl_wait *w, sem_t *sem, enum trace_kind kind, unsigned detail)
{
	const void *pc = (const void *)(uintptr_t)w->event.site;
	int error = wait_for(w, sem, kind);

	if (error == ECANCELED) {
		snarlrt_note(kind, detail | TRACE_UNWOUND, sem, 0, error, pc);
		ctl_cancel_act();
		return answer(EINTR);
	}
	snarlrt_note(kind, detail, sem, 0, error, pc);
	return answer(error);
}

int model_sem_wait(sem_t *sem, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_WAIT, sem, is_positive, pc);

	return wait_noted(&w, sem, TRACE_SEM_WAIT, 0);
}

int model_sem_timedwait(sem_t *sem, clockid_t clock, const struct timespec *limit, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_WAIT, sem, is_positive, pc);

	if (!model_clock_known(clock) || !model_limit_valid(limit)) {
		model_point(SCHED_OP_WAIT, TRACE_SEM_TIMEDWAIT, sem, pc);
		snarlrt_note(TRACE_SEM_TIMEDWAIT, TRACE_TIMED, sem, 0, EINVAL, pc);
		return answer(EINVAL);
	}
	model_set_deadline(&w, ctl_deadline(clock, limit));
	return wait_noted(&w, sem, TRACE_SEM_TIMEDWAIT, TRACE_TIMED);
}

int model_sem_trywait(sem_t *sem, const void *pc)
{
	int error = 0;

	model_point(SCHED_OP_TRY, TRACE_SEM_TRYWAIT, sem, pc);
	if (*value_of(sem) > 0)
		take(sem);
	else
		error = EAGAIN;
	snarlrt_note(TRACE_SEM_TRYWAIT, 0, sem, 0, error, pc);
	return answer(error);
}

int model_sem_post(sem_t *sem, const void *pc)
{
	model_point(SCHED_OP_WAKE, TRACE_SEM_POST, sem, pc);
	snarlrt_note(TRACE_SEM_POST, 0, sem, 0, 0, pc);
	if (*value_of(sem) == SEM_VALUE_MAX) {
		snarlrt_note(TRACE_SEM_POST, 0, sem, 0, EOVERFLOW, pc);
		return answer(EOVERFLOW);
	}
	++*value_of(sem);
	ctl_changed(sem);
	return 0;
}

void model_sem_reading(sem_t *sem, const void *pc)
{
	ctl_point(SCHED_OP_OTHER, sem, pc);
	ctl_touch((uint64_t)(uintptr_t)sem, sizeof(*value_of(sem)), false, pc);
}

void model_sem_destroying(sem_t *sem, const void *pc)
{
	model_point(SCHED_OP_OTHER, TRACE_SEM_DESTROY, sem, pc);
	if (model_has_blocked_waiter(sem))
		ctl_misuse(sem, pc, "destruction of a semaphore that threads wait for");
}

/*
 * pthread_cond_*. A wait is two events: COND_WAIT before the mutex is released and COND_WAKE when
 * it is held again, whatever the result. A thread that is cancelled in the wait also reacquires the
 * mutex before it unwinds.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"
#include "runtime/interpose/blocking.h"

SNARLRT_INTERPOSE int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_COND_INIT, cond, SNARLRT_PC());
	result = REAL(pthread_cond_init)(cond, attr);
	snarlrt_note(TRACE_COND_INIT, 0, cond, 0, result, SNARLRT_PC());
	return result;
}

/* May block until woken waiters have left: POSIX allows destroying the condition before that. */
SNARLRT_INTERPOSE int pthread_cond_destroy(pthread_cond_t *cond)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_cond_destroying(cond, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_COND_DESTROY, cond, SNARLRT_PC());
	result = REAL(pthread_cond_destroy)(cond);
	snarlrt_wait_end();
	snarlrt_note(TRACE_COND_DESTROY, 0, cond, 0, result, SNARLRT_PC());
	return result;
}

static inline void wait_begin(const struct snarlrt_blocking *call)
{
	snarlrt_note(TRACE_COND_WAIT, call->detail, call->object, call->arg, 0, call->pc);
	snarlrt_blocking_begin(call, TRACE_COND_WAIT);
}

SNARLRT_INTERPOSE int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (ctl_on())
		return model_cond_wait(cond, mutex, 0, SNARLRT_PC());

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_COND_WAKE,
		.object = cond,
		.arg = (uintptr_t)mutex,
		.pc = SNARLRT_PC(),
	};

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_cond_wait)(cond, mutex);
	wait_begin(&call);
	call.result = REAL(pthread_cond_wait)(cond, mutex);
	call.returned = true;
	return call.result;
}

SNARLRT_INTERPOSE int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
					     const struct timespec *limit)
{
	if (ctl_on())
		return model_cond_timedwait(cond, mutex, MODEL_COND_CLOCK, limit, 0, SNARLRT_PC());

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_COND_WAKE,
		.detail = TRACE_TIMED,
		.object = cond,
		.arg = (uintptr_t)mutex,
		.pc = SNARLRT_PC(),
	};

	snarlrt_real_ready();
	wait_begin(&call);
	call.result = REAL(pthread_cond_timedwait)(cond, mutex, limit);
	call.returned = true;
	return call.result;
}

SNARLRT_INTERPOSE int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
					     clockid_t clock, const struct timespec *limit)
{
	if (ctl_on())
		return model_cond_timedwait(cond, mutex, clock, limit, 0, SNARLRT_PC());

	struct snarlrt_blocking call SNARLRT_BLOCKING = {
		.kind = TRACE_COND_WAKE,
		.detail = TRACE_TIMED,
		.object = cond,
		.arg = (uintptr_t)mutex,
		.pc = SNARLRT_PC(),
	};

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_cond_clockwait)(cond, mutex, clock, limit);
	wait_begin(&call);
	call.result = REAL(pthread_cond_clockwait)(cond, mutex, clock, limit);
	call.returned = true;
	return call.result;
}

SNARLRT_INTERPOSE int pthread_cond_signal(pthread_cond_t *cond)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_cond_signal)(cond);
	if (ctl_on())
		return model_cond_signal(cond, 0, SNARLRT_PC());
	snarlrt_note(TRACE_COND_SIGNAL, 0, cond, 0, 0, SNARLRT_PC());
	result = REAL(pthread_cond_signal)(cond);
	if (unlikely(result))
		snarlrt_note(TRACE_COND_SIGNAL, 0, cond, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_cond_broadcast(pthread_cond_t *cond)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_cond_broadcast)(cond);
	if (ctl_on())
		return model_cond_broadcast(cond, 0, SNARLRT_PC());
	snarlrt_note(TRACE_COND_BROADCAST, 0, cond, 0, 0, SNARLRT_PC());
	result = REAL(pthread_cond_broadcast)(cond);
	if (unlikely(result))
		snarlrt_note(TRACE_COND_BROADCAST, 0, cond, 0, result, SNARLRT_PC());
	return result;
}

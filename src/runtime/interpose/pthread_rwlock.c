/*
 * pthread_rwlock_*. Readers and writers release by the same call, so RWLOCK_UNLOCK does not say
 * which it was; the trace reader finds out.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"

SNARLRT_INTERPOSE int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_RWLOCK_INIT, lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_init)(lock, attr);
	snarlrt_note(TRACE_RWLOCK_INIT, 0, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		return model_rwlock_destroy(lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_destroy)(lock);
	snarlrt_note(TRACE_RWLOCK_DESTROY, 0, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_rdlock)(lock);
	if (ctl_on())
		return model_rwlock_rdlock(lock, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_RWLOCK_RDLOCK, lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_rdlock)(lock);
	snarlrt_wait_end();
	snarlrt_note(TRACE_RWLOCK_RDLOCK, 0, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_tryrdlock)(lock);
	if (ctl_on())
		return model_rwlock_tryrdlock(lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_tryrdlock)(lock);
	snarlrt_note(TRACE_RWLOCK_TRYRDLOCK, 0, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock,
						 const struct timespec *limit)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_timedrdlock)(lock, limit);
	if (ctl_on())
		return model_rwlock_timedrdlock(lock, CLOCK_REALTIME, limit, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_RWLOCK_TIMEDRDLOCK, lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_timedrdlock)(lock, limit);
	snarlrt_wait_end();
	snarlrt_note(TRACE_RWLOCK_TIMEDRDLOCK, TRACE_TIMED, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
						 const struct timespec *limit)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_clockrdlock)(lock, clock, limit);
	if (ctl_on())
		return model_rwlock_timedrdlock(lock, clock, limit, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_RWLOCK_TIMEDRDLOCK, lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_clockrdlock)(lock, clock, limit);
	snarlrt_wait_end();
	snarlrt_note(TRACE_RWLOCK_TIMEDRDLOCK, TRACE_TIMED, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_wrlock)(lock);
	if (ctl_on())
		return model_rwlock_wrlock(lock, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_RWLOCK_WRLOCK, lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_wrlock)(lock);
	snarlrt_wait_end();
	snarlrt_note(TRACE_RWLOCK_WRLOCK, 0, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_trywrlock)(lock);
	if (ctl_on())
		return model_rwlock_trywrlock(lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_trywrlock)(lock);
	snarlrt_note(TRACE_RWLOCK_TRYWRLOCK, 0, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock,
						 const struct timespec *limit)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_timedwrlock)(lock, limit);
	if (ctl_on())
		return model_rwlock_timedwrlock(lock, CLOCK_REALTIME, limit, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_RWLOCK_TIMEDWRLOCK, lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_timedwrlock)(lock, limit);
	snarlrt_wait_end();
	snarlrt_note(TRACE_RWLOCK_TIMEDWRLOCK, TRACE_TIMED, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
						 const struct timespec *limit)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_clockwrlock)(lock, clock, limit);
	if (ctl_on())
		return model_rwlock_timedwrlock(lock, clock, limit, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_RWLOCK_TIMEDWRLOCK, lock, SNARLRT_PC());
	result = REAL(pthread_rwlock_clockwrlock)(lock, clock, limit);
	snarlrt_wait_end();
	snarlrt_note(TRACE_RWLOCK_TIMEDWRLOCK, TRACE_TIMED, lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_rwlock_unlock)(lock);
	if (ctl_on())
		return model_rwlock_unlock(lock, SNARLRT_PC());
	snarlrt_note(TRACE_RWLOCK_UNLOCK, 0, lock, 0, 0, SNARLRT_PC());
	result = REAL(pthread_rwlock_unlock)(lock);
	if (unlikely(result))
		snarlrt_note(TRACE_RWLOCK_UNLOCK, 0, lock, 0, result, SNARLRT_PC());
	return result;
}

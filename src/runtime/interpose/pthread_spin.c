/*
 * pthread_spin_*. The only error that libc returns is EBUSY.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"

SNARLRT_INTERPOSE int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_SPIN_INIT, (const void *)lock, SNARLRT_PC());
	result = REAL(pthread_spin_init)(lock, shared);
	snarlrt_note(TRACE_SPIN_INIT, 0, (const void *)lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_spin_destroy(pthread_spinlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_spin_destroying(lock, SNARLRT_PC());
	result = REAL(pthread_spin_destroy)(lock);
	snarlrt_note(TRACE_SPIN_DESTROY, 0, (const void *)lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_spin_lock)(lock);
	if (ctl_on())
		return model_spin_lock(lock, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_SPIN_LOCK, (const void *)lock, SNARLRT_PC());
	result = REAL(pthread_spin_lock)(lock);
	snarlrt_wait_end();
	snarlrt_note(TRACE_SPIN_LOCK, 0, (const void *)lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_spin_trylock)(lock);
	if (ctl_on())
		return model_spin_trylock(lock, SNARLRT_PC());
	result = REAL(pthread_spin_trylock)(lock);
	snarlrt_note(TRACE_SPIN_TRYLOCK, 0, (const void *)lock, 0, result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_spin_unlock)(lock);
	if (ctl_on())
		return model_spin_unlock(lock, SNARLRT_PC());
	snarlrt_note(TRACE_SPIN_UNLOCK, 0, (const void *)lock, 0, 0, SNARLRT_PC());
	result = REAL(pthread_spin_unlock)(lock);
	if (unlikely(result))
		snarlrt_note(TRACE_SPIN_UNLOCK, 0, (const void *)lock, 0, result, SNARLRT_PC());
	return result;
}

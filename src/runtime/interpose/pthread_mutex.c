/*
 * pthread_mutex_*. LOCK is noted while the mutex is held, UNLOCK before it is released.
 * abi/trace_format.h ("Results") says what follows if an unlock fails.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"
#include "runtime/record/mutex_clock.h"

/*
 * How often a thread looks at a taken mutex before it sleeps; together half a microsecond. Noting
 * events makes critical sections longer, so threads meet more often than without snarl. Sleeping
 * and waking up costs ten times as much.
 */
#define SPINS 10
#define KIND_NORMAL 0	/* __data.__kind of a plain private mutex */

static uint64_t type_of(const pthread_mutexattr_t *attr)
{
	int type;

	if (!attr || pthread_mutexattr_gettype(attr, &type))
		return PTHREAD_MUTEX_DEFAULT;
	return (uint64_t)type;
}

SNARLRT_INTERPOSE int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_point(SCHED_OP_OTHER, TRACE_MUTEX_INIT, mutex, SNARLRT_PC());
	result = REAL(pthread_mutex_init)(mutex, attr);
	snarlrt_note(TRACE_MUTEX_INIT, 0, mutex, type_of(attr), result, SNARLRT_PC());
	return result;
}

SNARLRT_INTERPOSE int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		model_mutex_destroying(mutex, SNARLRT_PC());
	result = REAL(pthread_mutex_destroy)(mutex);
	snarlrt_note(TRACE_MUTEX_DESTROY, 0, mutex, 0, result, SNARLRT_PC());
	return result;
}

static inline void deliver_signals(struct snarlrt_thread *self)
{
	if (unlikely(self->deferred_count))
		snarlrt_deliver_deferred(self);
}

static __attribute__((noinline)) int note_locked(pthread_mutex_t *mutex, int result, const void *pc)
{
	snarlrt_note(TRACE_MUTEX_LOCK, 0, mutex, 0, result, pc);
	if (result == 0)
		snarlrt_taken();
	return result;
}

/*
 * Locks in any mode. It does not try pthread_mutex_trylock() first to save the two wait calls:
 * glibc's leaves a robust mutex locked that is not recoverable.
 */
static __attribute__((noinline)) int lock_slow(pthread_mutex_t *mutex, const void *pc)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		return model_mutex_lock(mutex, 0, pc);
	snarlrt_wait_begin(TRACE_MUTEX_LOCK, mutex, pc);
	result = REAL(pthread_mutex_lock)(mutex);
	snarlrt_wait_end();
	return note_locked(mutex, result, pc);
}

/*
 * Waits a short time for a normal mutex to become free. Only a hint: the values read may be stale.
 */
static void spin_before_sleep(const pthread_mutex_t *mutex)
{
	if (__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) != KIND_NORMAL)
		return;
	for (int i = 0; i < SPINS && __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 0;
	     i++)
		sys_pause();
}

/*
 * Locks in mode record, without calls of the mode's functions. While the thread waits, a signal
 * handler may fork and replace the thread's state, so __snarl_tls.self is read again afterwards.
 */
static __attribute__((noinline)) int lock_fast(pthread_mutex_t *mutex, const void *pc)
{
	int result;

	if (!mutex_may_note() || unlikely(snarlrt_near_end()))
		return lock_slow(mutex, pc);
	spin_before_sleep(mutex);
	snarlrt_waits(__snarl_tls.self, TRACE_MUTEX_LOCK, mutex, pc);
	result = REAL(pthread_mutex_lock)(mutex);
	snarlrt_waited();
	if (unlikely(result || !mutex_note(TRACE_MUTEX_LOCK, mutex, pc)))
		return note_locked(mutex, result, pc);
	snarlrt_taken();
	deliver_signals(__snarl_tls.self);
	return 0;
}

/*
 * Programs call this and pthread_mutex_unlock most. All but the test for mode off is out of line,
 * so that the jump to the real function needs no stack frame.
 */
SNARLRT_INTERPOSE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return snarlrt_off() ? REAL(pthread_mutex_lock)(mutex) : lock_fast(mutex, SNARLRT_PC());
}

SNARLRT_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_mutex_trylock)(mutex);
	if (ctl_on())
		return model_mutex_trylock(mutex, 0, SNARLRT_PC());
	result = REAL(pthread_mutex_trylock)(mutex);
	snarlrt_note(TRACE_MUTEX_TRYLOCK, 0, mutex, 0, result, SNARLRT_PC());
	if (result == 0)
		snarlrt_taken();
	return result;
}

SNARLRT_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t *mutex,
					      const struct timespec *limit)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_mutex_timedlock)(mutex, limit);
	if (ctl_on())
		return model_mutex_timedlock(mutex, CLOCK_REALTIME, limit, 0, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_MUTEX_TIMEDLOCK, mutex, SNARLRT_PC());
	result = REAL(pthread_mutex_timedlock)(mutex, limit);
	snarlrt_wait_end();
	snarlrt_note(TRACE_MUTEX_TIMEDLOCK, TRACE_TIMED, mutex, 0, result, SNARLRT_PC());
	if (result == 0)
		snarlrt_taken();
	return result;
}

SNARLRT_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
					      const struct timespec *limit)
{
	int result;

	snarlrt_real_ready();
	if (snarlrt_off())
		return REAL(pthread_mutex_clocklock)(mutex, clock, limit);
	if (ctl_on())
		return model_mutex_timedlock(mutex, clock, limit, 0, SNARLRT_PC());
	snarlrt_wait_begin(TRACE_MUTEX_TIMEDLOCK, mutex, SNARLRT_PC());
	result = REAL(pthread_mutex_clocklock)(mutex, clock, limit);
	snarlrt_wait_end();
	snarlrt_note(TRACE_MUTEX_TIMEDLOCK, TRACE_TIMED, mutex, 0, result, SNARLRT_PC());
	if (result == 0)
		snarlrt_taken();
	return result;
}

static int unlock_real(pthread_mutex_t *mutex, const void *pc)
{
	int result = REAL(pthread_mutex_unlock)(mutex);

	if (unlikely(result))
		snarlrt_note(TRACE_MUTEX_UNLOCK, 0, mutex, 0, result, pc);
	else
		snarlrt_let_go();
	return result;
}

static __attribute__((noinline)) int unlock_slow(pthread_mutex_t *mutex, const void *pc)
{
	snarlrt_real_ready();
	if (ctl_on())
		return model_mutex_unlock(mutex, 0, pc);
	snarlrt_note(TRACE_MUTEX_UNLOCK, 0, mutex, 0, 0, pc);
	return unlock_real(mutex, pc);
}

static __attribute__((noinline)) int unlock_fast(pthread_mutex_t *mutex, const void *pc)
{
	if (!mutex_note(TRACE_MUTEX_UNLOCK, mutex, pc))
		return unlock_slow(mutex, pc);
	deliver_signals(__snarl_tls.self);
	return unlock_real(mutex, pc);
}

SNARLRT_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return snarlrt_off() ? REAL(pthread_mutex_unlock)(mutex) : unlock_fast(mutex, SNARLRT_PC());
}

SNARLRT_INTERPOSE int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
	int result;

	snarlrt_real_ready();
	if (ctl_on())
		return model_mutex_consistent(mutex, SNARLRT_PC());
	result = REAL(pthread_mutex_consistent)(mutex);
	snarlrt_note(TRACE_MUTEX_CONSISTENT, 0, mutex, 0, result, SNARLRT_PC());
	return result;
}

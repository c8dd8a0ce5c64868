/*
 * Models of synchronisation objects under control. While ctl_on(), the interposers call these
 * functions and not libc's blocking ones.
 *
 * A model keeps its state in the bytes of the user's pthread_mutex_t, sem_t and so on. Memory that
 * is copied, cleared or reused therefore behaves as without control. Fields with a meaning that
 * others rely on keep it: the kind of a mutex, the value of a semaphore, "done" of a once. So
 * static initialisers, the real init functions (which are still called) and operations before main
 * take effect. A holder is stored as its trace id.
 *
 * An object shared between processes is modelled like a private one. Other processes that use it
 * are not seen and wake no thread here.
 *
 * Each operation makes a point, changes the state, and records the same events as in mode record.
 * `detail` is 0 or TRACE_C11; the functions add TRACE_TIMED. A `limit` of NULL means no time-out.
 * int results are pthread error numbers, except for the sem_ functions, which return 0, or -1 and
 * errno.
 */
#ifndef RUNTIME_CONTROL_MODEL_MODELS_H
#define RUNTIME_CONTROL_MODEL_MODELS_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "runtime/control/control.h"
#include "runtime/control/model/external.h"

/* Mutexes (mutex.c), also mtx_t. */
SNARLRT_HIDDEN int model_mutex_lock(pthread_mutex_t *mutex, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_mutex_trylock(pthread_mutex_t *mutex, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_mutex_timedlock(pthread_mutex_t *mutex, clockid_t clock,
					 const struct timespec *limit, unsigned detail,
					 const void *pc);
SNARLRT_HIDDEN int model_mutex_unlock(pthread_mutex_t *mutex, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_mutex_consistent(pthread_mutex_t *mutex, const void *pc);
/* The point and the checks before the real destroy. */
SNARLRT_HIDDEN void model_mutex_destroying(pthread_mutex_t *mutex, const void *pc);

/*
 * For condition variables: no points and no events. model_mutex_wait_unlock() keeps the thread
 * counted as a user of the mutex. model_mutex_wait_relock() waits at a point.
 */
SNARLRT_HIDDEN bool model_mutex_is_held_by_self(const pthread_mutex_t *mutex);
SNARLRT_HIDDEN bool model_mutex_checks_owner(const pthread_mutex_t *mutex);
SNARLRT_HIDDEN int model_mutex_wait_unlock(pthread_mutex_t *mutex);
SNARLRT_HIDDEN int model_mutex_wait_relock(pthread_mutex_t *mutex, const void *pc);

/* Readers-writer locks (rwlock.c). */
SNARLRT_HIDDEN int model_rwlock_rdlock(pthread_rwlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_rwlock_tryrdlock(pthread_rwlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_rwlock_timedrdlock(pthread_rwlock_t *lock, clockid_t clock,
					    const struct timespec *limit, const void *pc);
SNARLRT_HIDDEN int model_rwlock_wrlock(pthread_rwlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_rwlock_trywrlock(pthread_rwlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_rwlock_timedwrlock(pthread_rwlock_t *lock, clockid_t clock,
					    const struct timespec *limit, const void *pc);
SNARLRT_HIDDEN int model_rwlock_unlock(pthread_rwlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_rwlock_destroy(pthread_rwlock_t *lock, const void *pc);

/* Spin locks (spin.c). */
SNARLRT_HIDDEN int model_spin_lock(pthread_spinlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_spin_trylock(pthread_spinlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_spin_unlock(pthread_spinlock_t *lock, const void *pc);
SNARLRT_HIDDEN void model_spin_destroying(pthread_spinlock_t *lock, const void *pc);

/* Condition variables (cond.c), also cnd_t. The waits may unwind instead of returning. */
SNARLRT_HIDDEN int model_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, unsigned detail,
				   const void *pc);
/* As `clock`: the one that the condition was initialised with. */
#define MODEL_COND_CLOCK ((clockid_t)-1)
SNARLRT_HIDDEN int model_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
					clockid_t clock, const struct timespec *limit,
					unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_cond_signal(pthread_cond_t *cond, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_cond_broadcast(pthread_cond_t *cond, unsigned detail, const void *pc);
SNARLRT_HIDDEN void model_cond_destroying(pthread_cond_t *cond, const void *pc);

/*
 * Wait sets of conditions and futexes. A thread is in the wait set of `object` if its
 * ctl_thread.wait_set is `object`.
 *
 * model_wait_set_wake() removes up to `most` threads that `wanted` accepts (NULL: any) and returns
 * their number. If more threads qualify, the strategy chooses.
 */
typedef bool model_wait_set_filter(const struct ctl_thread *t, uint64_t arg);
SNARLRT_HIDDEN void model_wait_set_join(const void *object);
SNARLRT_HIDDEN bool model_wait_set_leave(const void *object);	/* false: it was woken before */
SNARLRT_HIDDEN uint32_t model_wait_set_wake(const void *object, uint32_t most,
					    model_wait_set_filter *wanted, uint64_t arg);
/* Moves up to `most` threads, in order of arrival, to the wait set of `to`. */
SNARLRT_HIDDEN uint32_t model_wait_set_move(const void *from, const void *to, uint32_t most);
/* A callback `ready`: true once the thread is in no wait set. */
SNARLRT_HIDDEN bool model_wait_set_left(const struct ctl_wait *w);

/* Semaphores (sem.c). The waits may unwind instead of returning. */
SNARLRT_HIDDEN int model_sem_wait(sem_t *sem, const void *pc);
SNARLRT_HIDDEN int model_sem_trywait(sem_t *sem, const void *pc);
SNARLRT_HIDDEN int model_sem_timedwait(sem_t *sem, clockid_t clock, const struct timespec *limit,
				       const void *pc);
SNARLRT_HIDDEN int model_sem_post(sem_t *sem, const void *pc);
/* The point and the check before the real sem_getvalue. */
SNARLRT_HIDDEN void model_sem_reading(sem_t *sem, const void *pc);
SNARLRT_HIDDEN void model_sem_destroying(sem_t *sem, const void *pc);

/* Barriers (barrier.c). */
SNARLRT_HIDDEN int model_barrier_wait(pthread_barrier_t *barrier, const void *pc);
SNARLRT_HIDDEN int model_barrier_destroy(pthread_barrier_t *barrier, const void *pc);

/* Initialisation (once.c): pthread_once_t, also once_flag; guards of C++ statics. */
SNARLRT_HIDDEN int model_once(pthread_once_t *once, void (*routine)(void), unsigned detail,
			      const void *pc);
SNARLRT_HIDDEN int model_guard_acquire(uint64_t *guard, const void *pc);
SNARLRT_HIDDEN void model_guard_release(uint64_t *guard, const void *pc);
SNARLRT_HIDDEN void model_guard_abort(uint64_t *guard, const void *pc);

/*
 * futex.c: `v` is SYS_futex and its arguments. Returns false for operations that are not modelled
 * (priority inheritance). *answer is as syscall() returns it: -1 and errno for errors.
 */
SNARLRT_HIDDEN bool model_futex(const long v[6], long *answer, const void *pc);

/*
 * Locks that a library implements (library_lock.c). model_library_lock() waits until no thread
 * holds the lock, or only the calling one and `nests`, and makes it the holder; then the library's
 * lock function does not block. _locked() is for an attempt that succeeded. No events.
 */
SNARLRT_HIDDEN void model_library_lock(const void *object, bool nests, const void *pc);
SNARLRT_HIDDEN void model_library_locked(const void *object, const void *pc);
SNARLRT_HIDDEN void model_library_unlocked(const void *object);

/* The rest is for the models only. */

/* A point before an operation of `kind` on `object`, which must not be in freed memory then. */
static inline void model_point(enum sched_op op, enum trace_kind kind, const void *object,
			       const void *pc)
{
	ctl_point(op, object, pc);
	ctl_object_used(kind, object, 0, pc);
}

/*
 * Waits until `w` is ready, expired or cancelled. Signal handlers run meanwhile but do not end the
 * wait. `kind` is what the thread is shown waiting in if the run is killed.
 */
static inline void model_sleep(struct ctl_wait *w, enum trace_kind kind)
{
	snarlrt_wait_begin(kind, (const void *)(uintptr_t)w->event.object,
			   (const void *)(uintptr_t)w->event.site);
	w->interruptible = true;
	do {
		w->interrupted = ctl_signal_due(ctl_self());
		ctl_wait(w);
	} while (w->interrupted && !w->expired && !w->cancelled && w->ready && !w->ready(w));
	snarlrt_wait_end();
}

/* Waits in an operation of `kind`, which uses the object when it begins and when it returns. */
static inline void model_wait(struct ctl_wait *w, enum trace_kind kind)
{
	const void *object = (const void *)(uintptr_t)w->event.object;
	const void *pc = (const void *)(uintptr_t)w->event.site;

	ctl_object_used(kind, object, 0, pc);
	model_sleep(w, kind);
	ctl_object_used(kind, object, 0, pc);
}

/* Sets a time-out. If it has passed already, the wait is ready at once. */
static inline void model_set_deadline(struct ctl_wait *w, uint64_t deadline)
{
	w->deadline = deadline;
	if (deadline <= ctl.now)
		w->ready = NULL;
}

static inline bool model_timed_out(const struct ctl_wait *w)
{
	return w->expired || w->deadline <= ctl.now;
}

static inline bool model_clock_known(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool model_limit_valid(const struct timespec *limit)
{
	return limit->tv_nsec >= 0 && limit->tv_nsec < 1000000000;
}

/* Does another thread wait for `object` that is not ready? */
static inline bool model_has_blocked_waiter(const void *object)
{
	for (uint32_t i = 0; i < ctl.count; i++) {
		const struct ctl_thread *t = ctl.threads[i];

		if (t && t != ctl.current && t->state == CTL_LIVE && t->wait &&
		    t->wait->event.object == (uint64_t)(uintptr_t)object && t->wait->ready &&
		    !t->wait->ready(t->wait))
			return true;
	}
	return false;
}

#endif

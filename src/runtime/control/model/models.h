/*
 * What synchronisation does under control (control.h): the interposers come
 * here while ctl_on(), and the real blocking functions are not called.
 *
 * The state of an object is kept in place, in the bytes of the user's
 * pthread_mutex_t, sem_t, …, so that memory which is copied, cleared or used
 * again behaves as ever. Where libc gives a field a meaning that others rely on
 * (the kind of a mutex, the value of a semaphore, "done" of a once) it keeps it:
 * static initialisers, the real init functions, which are still called, and what
 * was done before main all count. A holder is written as its trace id.
 *
 * Objects shared between processes are modelled like private ones: another
 * process that uses one is not seen, and nothing it does wakes anybody here.
 *
 * Every operation is a point, then the change of state, then the same notes as
 * when recording. `detail` is 0 or TRACE_C11; the functions add TRACE_TIMED.
 * `limit` NULL means for ever. Those that return int return pthread error
 * numbers, the sem_ ones 0 or -1 and errno.
 */
#ifndef RUNTIME_CONTROL_MODEL_MODELS_H
#define RUNTIME_CONTROL_MODEL_MODELS_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "runtime/control/control.h"
#include "runtime/control/model/external.h"

/* model_mutex.c; a mtx_t is the same thing */
SNARLRT_HIDDEN int model_mutex_lock(pthread_mutex_t *mutex, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_mutex_trylock(pthread_mutex_t *mutex, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_mutex_timedlock(pthread_mutex_t *mutex, clockid_t clock,
					 const struct timespec *limit, unsigned detail,
					 const void *pc);
SNARLRT_HIDDEN int model_mutex_unlock(pthread_mutex_t *mutex, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_mutex_consistent(pthread_mutex_t *mutex, const void *pc);
/* The point and the checks before the real destroy. */
SNARLRT_HIDDEN void model_mutex_destroying(pthread_mutex_t *mutex, const void *pc);
/* (model_mutex_owner_ended() of control.h: robust mutexes pass to whoever locks them next.) */

/* The parts of it that a condition needs; no points, no notes. */
SNARLRT_HIDDEN bool model_mutex_is_held_by_self(const pthread_mutex_t *mutex);
SNARLRT_HIDDEN bool model_mutex_checks_owner(const pthread_mutex_t *mutex);
SNARLRT_HIDDEN int model_mutex_wait_unlock(pthread_mutex_t *mutex);	/* an unlock that stays a user */
SNARLRT_HIDDEN int model_mutex_wait_relock(pthread_mutex_t *mutex, const void *pc);	/* waits; a point */

/* model_rwlock.c */
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

/* model_spin.c */
SNARLRT_HIDDEN int model_spin_lock(pthread_spinlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_spin_trylock(pthread_spinlock_t *lock, const void *pc);
SNARLRT_HIDDEN int model_spin_unlock(pthread_spinlock_t *lock, const void *pc);
SNARLRT_HIDDEN void model_spin_destroying(pthread_spinlock_t *lock, const void *pc);

/* model_cond.c; a cnd_t is the same thing. wait may not return, but unwind. */
SNARLRT_HIDDEN int model_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, unsigned detail,
				   const void *pc);
/* `clock` MODEL_COND_CLOCK: the condition's own. */
#define MODEL_COND_CLOCK ((clockid_t)-1)
SNARLRT_HIDDEN int model_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
					clockid_t clock, const struct timespec *limit,
					unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_cond_signal(pthread_cond_t *cond, unsigned detail, const void *pc);
SNARLRT_HIDDEN int model_cond_broadcast(pthread_cond_t *cond, unsigned detail, const void *pc);
SNARLRT_HIDDEN void model_cond_destroying(pthread_cond_t *cond, const void *pc);

/*
 * Wait sets, for conditions and futexes: a thread is in that of `object` while
 * its ctl_thread.cond says so.
 *
 * wake: takes up to `most` of those that `wanted` (NULL: all) agrees to out of
 * the set; which ones, if not all, is the strategy's choice. Returns how many.
 */
typedef bool model_wait_set_filter(const struct ctl_thread *t, uint64_t arg);
SNARLRT_HIDDEN void model_wait_set_join(const void *object);
SNARLRT_HIDDEN bool model_wait_set_leave(const void *object);	/* false: it was woken before */
SNARLRT_HIDDEN uint32_t model_wait_set_wake(const void *object, uint32_t most, model_wait_set_filter *wanted,
				       uint64_t arg);
/* Moves up to `most` of them, in order of arrival, to another object's. */
SNARLRT_HIDDEN uint32_t model_wait_set_move(const void *from, const void *to, uint32_t most);
SNARLRT_HIDDEN bool model_wait_set_left(const struct ctl_wait *w);	/* a ctl_ready */

/* model_sem.c. The waits may unwind instead of returning. */
SNARLRT_HIDDEN int model_sem_wait(sem_t *sem, const void *pc);
SNARLRT_HIDDEN int model_sem_trywait(sem_t *sem, const void *pc);
SNARLRT_HIDDEN int model_sem_timedwait(sem_t *sem, clockid_t clock, const struct timespec *limit,
				       const void *pc);
SNARLRT_HIDDEN int model_sem_post(sem_t *sem, const void *pc);
SNARLRT_HIDDEN void model_sem_destroying(sem_t *sem, const void *pc);

/* model_barrier.c */
SNARLRT_HIDDEN int model_barrier_wait(pthread_barrier_t *barrier, const void *pc);
SNARLRT_HIDDEN int model_barrier_destroy(pthread_barrier_t *barrier, const void *pc);

/* model_once.c; a once_flag is the same thing as a pthread_once_t */
SNARLRT_HIDDEN int model_once(pthread_once_t *once, void (*routine)(void), unsigned detail,
			      const void *pc);
SNARLRT_HIDDEN int model_guard_acquire(uint64_t *guard, const void *pc);
SNARLRT_HIDDEN void model_guard_release(uint64_t *guard, const void *pc);
SNARLRT_HIDDEN void model_guard_abort(uint64_t *guard, const void *pc);

/*
 * model_futex.c: the arguments of SYS_futex. False: this operation (priority
 * inheritance) is not modelled. The answer is that of syscall(): -1 and errno.
 */
SNARLRT_HIDDEN bool model_futex(const long v[6], long *answer, const void *pc);

/* What follows is for the models only. */

/*
 * A wait that signal handlers do not end, as that for a lock: they run, and it
 * goes on. `kind` is what a killed run shows.
 */
static inline void model_wait(struct ctl_wait *w, enum trace_kind kind)
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

/* What has no time left does not wait for others to run; it looks once. */
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

/* Does some other thread stand before `object`, unable to go on? */
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

/*
 * The trace clock of mutexes: while the program is recorded, each mutex holds the time of its last
 * event.
 *
 * A stripe (clock.h) would cost two more cache line transfers inside the critical section. The time
 * in the mutex is in a cache line that the holder has anyway, and needs no locked instruction. It
 * is stored in the links of glibc's list of robust mutexes, which other mutexes do not use;
 * pthread_mutex_init clears them.
 */
#ifndef RUNTIME_RECORD_MUTEX_CLOCK_H
#define RUNTIME_RECORD_MUTEX_CLOCK_H

#include <pthread.h>

#include "runtime/record/clock.h"
#include "runtime/record/ring.h"

#define MUTEX_PLAIN 3	/* the greatest plain mutex type; all other properties are bits above it */

static inline uint64_t *mutex_time_slot(pthread_mutex_t *mutex)
{
	return (uint64_t *)(void *)&mutex->__data.__list.__next;
}

/* Where the mutex has its time; NULL: it has no room, being robust, process-shared or the like. */
static inline uint64_t *mutex_time(pthread_mutex_t *mutex)
{
	if ((unsigned)__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) > MUTEX_PLAIN)
		return NULL;
	return mutex_time_slot(mutex);
}

/* The time of the last event of a mutex of any type; 0 if it holds none. */
static inline uint64_t mutex_last(const struct snarlrt_thread *self, pthread_mutex_t *mutex)
{
	return clock_plausible(self, __atomic_load_n(mutex_time_slot(mutex), __ATOMIC_RELAXED));
}

/* Whether the current thread holds the mutex. No other thread can change that. */
static inline bool mutex_is_held(const struct snarlrt_thread *self, pthread_mutex_t *mutex)
{
	return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == self->tid;
}

/*
 * Returns a time for an event on a mutex, later than all earlier events on it. A thread that does
 * not hold the mutex, because a call failed or is misused, must not overwrite a time of the holder.
 */
static inline uint64_t mutex_event(struct snarlrt_thread *self, pthread_mutex_t *mutex)
{
	uint64_t *time = mutex_time(mutex), seen, now;

	if (unlikely(!time))
		return clock_event(self, mutex);
	seen = __atomic_load_n(time, __ATOMIC_RELAXED);
	now = clock_after(self, clock_plausible(self, seen));
	if (likely(mutex_is_held(self, mutex)))
		__atomic_store_n(time, now, __ATOMIC_RELAXED);
	else
		while (!__atomic_compare_exchange_n(time, &seen, now, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
			now = clock_after(self, clock_plausible(self, seen));
	return now;
}

/*
 * A time for the begin or end of a wait: later than all earlier events on the condition variable
 * and on the mutex, which the thread holds.
 */
static inline uint64_t mutex_event_wait(struct snarlrt_thread *self, const void *cond,
					pthread_mutex_t *mutex)
{
	uint64_t *time = mutex_time(mutex), now;

	if (unlikely(!time || !mutex_is_held(self, mutex)))
		return clock_event_both(self, cond, mutex);
	clock_raise(self, mutex_last(self, mutex));
	now = clock_event(self, cond);
	__atomic_store_n(time, now, __ATOMIC_RELAXED);
	return now;
}

/*
 * Whether mutex_note() may be tried: the thread records and is not inside the runtime. The real
 * functions have been resolved then.
 */
static inline bool mutex_may_note(void)
{
	const struct snarlrt_tls *tls = &__snarl_tls;

	return likely(mode_traces() && tls->self && !(tls->busy | tls->hidden));
}

/*
 * snarlrt_note() for an event of a mutex that the thread holds: after taking it or before releasing
 * it. False: nothing was done, and the caller calls snarlrt_note(). Calls no function: no registers
 * are saved while other threads may wait for the mutex. Deferred signals are left to the caller.
 */
static inline __attribute__((always_inline)) bool mutex_note(enum trace_kind kind,
							     pthread_mutex_t *mutex, const void *pc)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	uint64_t *time = mutex_time(mutex), now;

	if (unlikely(!mutex_may_note() || !time || !mutex_is_held(self, mutex) ||
		     !clock_is_near(self, *time)))
		return false;
	tls->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unlikely(snarlrt_near_end())) {
		tls->busy = 0;		/* the slow path delivers signals that came meanwhile */
		return false;
	}
	now = clock_after(self, *time & ~1ull);
	*time = now;
	snarlrt_put_two((uint64_t)mutex & TRACE_ADDR_MASK, TRACE_SITE(kind, 0, pc), now, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tls->busy = 0;
	return true;
}

#endif

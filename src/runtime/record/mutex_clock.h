/*
 * What the runtime keeps in the program's mutexes while it records: the time of the last event.
 *
 * Two threads at a mutex would share two cache lines more if that were elsewhere (clock.h), both touched within the
 * critical section; here it comes along with the mutex, and who holds that needs no locked instruction. glibc uses
 * the links of its list for robust mutexes only, and clears them in pthread_mutex_init.
 */
#ifndef RUNTIME_RECORD_MUTEX_CLOCK_H
#define RUNTIME_RECORD_MUTEX_CLOCK_H

#include <pthread.h>

#include "runtime/record/clock.h"
#include "runtime/record/ring.h"

#define MUTEX_PLAIN 3	/* the last of the types; whatever else a mutex can do is a bit above */

static inline uint64_t *mutex_room(pthread_mutex_t *mutex)
{
	return (uint64_t *)(void *)&mutex->__data.__list.__next;
}

/* NULL: this one has no room. */
static inline uint64_t *mutex_time(pthread_mutex_t *mutex)
{
	if ((unsigned)__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) > MUTEX_PLAIN)
		return NULL;
	return mutex_room(mutex);
}

/* Of whatever sort it is; 0 if there can be no time in it. */
static inline uint64_t mutex_last(const struct snarlrt_thread *self, pthread_mutex_t *mutex)
{
	return clock_credible(self, __atomic_load_n(mutex_room(mutex), __ATOMIC_RELAXED));
}

/* Nobody but us will see another owner, or make it another one, meanwhile. */
static inline bool mutex_is_mine(const struct snarlrt_thread *self, pthread_mutex_t *mutex)
{
	return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == self->tid;
}

/*
 * A time for an event on a mutex, later than all before on it. Whoever does not hold it, because a call failed or
 * is wrong, must not take back the time of somebody who does.
 */
static inline uint64_t mutex_meet(struct snarlrt_thread *self, pthread_mutex_t *mutex)
{
	uint64_t *time = mutex_time(mutex), seen, now;

	if (unlikely(!time))
		return clock_meet(self, mutex);
	seen = __atomic_load_n(time, __ATOMIC_RELAXED);
	now = clock_after(self, clock_credible(self, seen));
	if (likely(mutex_is_mine(self, mutex)))
		__atomic_store_n(time, now, __ATOMIC_RELAXED);
	else
		while (!__atomic_compare_exchange_n(time, &seen, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			now = clock_after(self, clock_credible(self, seen));
	return now;
}

/* A wait lets go of its mutex, or has it again: ordered with both, of which it holds the mutex. */
static inline uint64_t mutex_meet_wait(struct snarlrt_thread *self, const void *cond, pthread_mutex_t *mutex)
{
	uint64_t *time = mutex_time(mutex), now;

	if (unlikely(!time || !mutex_is_mine(self, mutex)))
		return clock_meet_both(self, cond, mutex);
	clock_raise(self, mutex_last(self, mutex));
	now = clock_meet(self, cond);
	__atomic_store_n(time, now, __ATOMIC_RELAXED);
	return now;
}

/* The thread records and is not in the runtime; then real functions were found, too. */
static inline bool mutex_is_quiet(void)
{
	const struct snarlrt_tls *tls = &__snarl_tls;

	return likely(mode_traces() && tls->self && !(tls->busy | tls->hidden));
}

/*
 * snarlrt_note, after the thread has taken the mutex or before it lets it go. False, and nothing was done, if something is
 * special: a call to be told, a ring that needs attention. (Where cur is NULL, for whatever reason, it does.) No function is called, so that
 * no register has to be kept for it: others may be waiting for this mutex. Signals may have come meanwhile.
 */
static inline __attribute__((always_inline)) bool mutex_note(enum trace_kind kind, pthread_mutex_t *mutex,
							     const void *pc)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	uint64_t *time = mutex_time(mutex), now;

	if (unlikely(!mutex_is_quiet() || !time || !mutex_is_mine(self, mutex) || !clock_believes(self, *time)))
		return false;
	tls->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unlikely(snarlrt_near_end())) {
		tls->busy = 0;		/* who notes it delivers what came */
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

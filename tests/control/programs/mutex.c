/*
 * runs: 50
 * Every type of mutex, every result it can return; the schedule makes no difference.
 */
#include "want.h"

static int counter;

static void make(pthread_mutex_t *m, int type, int robust, int protocol)
{
	pthread_mutexattr_t a;

	want(pthread_mutexattr_init(&a), 0);
	want(pthread_mutexattr_settype(&a, type), 0);
	want(pthread_mutexattr_setrobust(&a, robust), 0);
	want(pthread_mutexattr_setprotocol(&a, protocol), 0);
	want(pthread_mutex_init(m, &a), 0);
	want(pthread_mutexattr_destroy(&a), 0);
}

static void *count(void *m)
{
	for (int i = 0; i < 3; i++) {
		want(pthread_mutex_lock(m), 0);
		counter++;
		want(pthread_mutex_unlock(m), 0);
	}
	while (pthread_mutex_trylock(m) == EBUSY)
		sched_yield();
	counter++;
	want(pthread_mutex_unlock(m), 0);
	return NULL;
}

static void excludes(pthread_mutex_t *m)
{
	pthread_t t[3];

	counter = 0;
	for (int i = 0; i < 3; i++)
		t[i] = start(count, m);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(counter, 12);
}

static void *finds_it_busy(void *m)
{
	struct timespec limit = soon(CLOCK_REALTIME);

	want(pthread_mutex_trylock(m), EBUSY);
	want(pthread_mutex_timedlock(m, &past), ETIMEDOUT);
	want(pthread_mutex_timedlock(m, &limit), ETIMEDOUT);
	want(pthread_mutex_timedlock(m, &invalid), EINVAL);
	limit = soon(CLOCK_MONOTONIC);
	want(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
	want(pthread_mutex_clocklock(m, CLOCK_REALTIME, &past), ETIMEDOUT);
	return NULL;
}

static void *finds_it_free(void *m)
{
	want(pthread_mutex_trylock(m), 0);
	want(pthread_mutex_unlock(m), 0);
	want(pthread_mutex_timedlock(m, &past), 0);
	want(pthread_mutex_unlock(m), 0);
	want(pthread_mutex_timedlock(m, &invalid), 0);
	want(pthread_mutex_unlock(m), 0);
	want(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past), 0);
	want(pthread_mutex_unlock(m), 0);
	want(pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
	return NULL;
}

static void *may_not_unlock(void *m)
{
	want(pthread_mutex_unlock(m), EPERM);
	return NULL;
}

static void *waits_long(void *m)
{
	struct timespec limit = late(CLOCK_REALTIME);
	int got;

	while ((got = pthread_mutex_timedlock(m, &limit)) == ETIMEDOUT)
		;
	want(got, 0);
	want(pthread_mutex_unlock(m), 0);
	return NULL;
}

/* The behaviour that all types share. */
static void plain(pthread_mutex_t *m)
{
	pthread_t t;

	excludes(m);
	want(pthread_mutex_lock(m), 0);
	elsewhere(finds_it_busy, m);
	t = start(waits_long, m);
	want(pthread_mutex_unlock(m), 0);
	finish(t);
	elsewhere(finds_it_free, m);
}

static void errorcheck(pthread_mutex_t *m, int try_again)
{
	want(pthread_mutex_unlock(m), EPERM);
	want(pthread_mutex_lock(m), 0);
	want(pthread_mutex_lock(m), EDEADLK);
	want(pthread_mutex_timedlock(m, &past), EDEADLK);
	want(pthread_mutex_trylock(m), try_again);
	elsewhere(may_not_unlock, m);
	want(pthread_mutex_unlock(m), 0);
	want(pthread_mutex_unlock(m), EPERM);
}

static void recursive(pthread_mutex_t *m)
{
	unsigned *depth = &m->__data.__count;

	want(pthread_mutex_unlock(m), EPERM);
	want(pthread_mutex_lock(m), 0);
	want(pthread_mutex_lock(m), 0);
	want(pthread_mutex_trylock(m), 0);
	want(pthread_mutex_timedlock(m, &past), 0);
	want(pthread_mutex_consistent(m), EINVAL);
	for (int i = 0; i < 3; i++) {
		want(pthread_mutex_unlock(m), 0);
		elsewhere(finds_it_busy, m);
		elsewhere(may_not_unlock, m);
	}
	*depth = ~0u;
	want(pthread_mutex_lock(m), EAGAIN);
	want(pthread_mutex_trylock(m), EAGAIN);
	*depth = 1;
	want(pthread_mutex_unlock(m), 0);
	want(pthread_mutex_unlock(m), EPERM);
	elsewhere(finds_it_free, m);
}

static void *dies_with_it(void *m)
{
	want(pthread_mutex_lock(m), 0);
	return NULL;
}

/* The present owner is dead or dies soon. */
static void *inherits(void *m)
{
	want(pthread_mutex_lock(m), EOWNERDEAD);
	want(pthread_mutex_consistent(m), 0);
	want(pthread_mutex_consistent(m), EINVAL);
	want(pthread_mutex_unlock(m), 0);
	return NULL;
}

static void *dies_again(void *m)
{
	want(pthread_mutex_trylock(m), EOWNERDEAD);
	return NULL;
}

static void *dies_while_waited_for(void *m)
{
	pthread_t t;

	want(pthread_mutex_lock(m), 0);
	t = start(inherits, m);
	return (void *)t;
}

static void robust(int type)
{
	pthread_mutex_t m;

	make(&m, type, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	plain(&m);
	want(pthread_mutex_unlock(&m), EPERM);
	elsewhere(dies_with_it, &m);
	elsewhere(inherits, &m);
	plain(&m);

	finish((pthread_t)elsewhere(dies_while_waited_for, &m));

	elsewhere(dies_with_it, &m);
	elsewhere(dies_again, &m);
	want(pthread_mutex_timedlock(&m, &past), EOWNERDEAD);
	elsewhere(may_not_unlock, &m);
	want(pthread_mutex_unlock(&m), 0);	/* not made consistent: the mutex stays unusable */
	want(pthread_mutex_lock(&m), ENOTRECOVERABLE);
	want(pthread_mutex_timedlock(&m, &past), ENOTRECOVERABLE);
	want(pthread_mutex_consistent(&m), EINVAL);
	want(pthread_mutex_destroy(&m), 0);
}

int main(void)
{
	static pthread_mutex_t fixed = PTHREAD_MUTEX_INITIALIZER;
	static pthread_mutex_t fixed_recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	static pthread_mutex_t fixed_errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP };
	pthread_mutex_t m;

	plain(&fixed);
	want(pthread_mutex_consistent(&fixed), EINVAL);
	recursive(&fixed_recursive);
	errorcheck(&fixed_errorcheck, EBUSY);
	for (int i = 0; i < 4; i++) {
		make(&m, types[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
		plain(&m);
		want(pthread_mutex_destroy(&m), 0);
		make(&m, types[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
		excludes(&m);
		want(pthread_mutex_destroy(&m), 0);
		robust(types[i]);
	}
	make(&m, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	errorcheck(&m, EDEADLK);
	want(pthread_mutex_destroy(&m), 0);
	make(&m, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	recursive(&m);
	want(pthread_mutex_destroy(&m), 0);
	return 0;
}

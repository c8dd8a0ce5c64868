/*
 * Cancellation at blocking calls: in a condition wait the mutex is held again when cleanup handlers
 * run; in sem_wait, read, join, sleep; deferred while disabled; before the first step; only at
 * pthread_testcancel.
 */
#include "want.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t m;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t never, reached, go_on;
static int fds[2], cleaned[3], count;
static pthread_t sleeper;

static void notes(void *arg)
{
	cleaned[count++] = (int)(long)arg;
}

static void unlocks(void *arg)
{
	want(pthread_mutex_lock(arg), EDEADLK);		/* held by this thread */
	notes((void *)1L);
	want(pthread_mutex_unlock(arg), 0);
}

static void *waits(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	pthread_cleanup_push(notes, (void *)2L);
	pthread_cleanup_push(unlocks, &m);
	sem_post(&reached);
	for (;;)
		pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return arg;
}

static void *waits_for_semaphore(void *arg)
{
	pthread_cleanup_push(notes, (void *)3L);
	sem_wait(&never);
	pthread_cleanup_pop(0);
	abort();
	return arg;
}

static void *reads(void *arg)
{
	char byte;

	pthread_cleanup_push(notes, (void *)4L);
	want(read(fds[0], &byte, 1), 1);
	pthread_cleanup_pop(0);
	abort();
	return arg;
}

static void *sleeps(void *arg)
{
	struct timespec long_ = { 1000000000, 0 };

	nanosleep(&long_, NULL);
	abort();
	return arg;
}

static void *joins(void *arg)
{
	pthread_cleanup_push(notes, (void *)5L);
	pthread_join(sleeper, NULL);
	pthread_cleanup_pop(0);
	abort();
	return arg;
}

static void *disables(void *arg)
{
	int old;

	want(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
	want(old, PTHREAD_CANCEL_ENABLE);
	sem_post(&reached);
	sem_wait(&go_on);
	pthread_testcancel();
	notes((void *)6L);
	pthread_cleanup_push(notes, (void *)7L);
	want(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
	pthread_testcancel();
	pthread_cleanup_pop(0);
	abort();
	return arg;
}

/* pthread_mutex_lock is no cancellation point */
static void *locks(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	notes((void *)8L);
	want(pthread_mutex_unlock(&m), 0);
	pthread_testcancel();
	abort();
	return arg;
}

static void ended(pthread_t t, int first, int second)
{
	want(finish(t), PTHREAD_CANCELED);
	want(cleaned[0], first);
	want(cleaned[1], second);
	cleaned[0] = cleaned[1] = count = 0;
}

static void cancelled(void *(*routine)(void *), int first, int second)
{
	pthread_t t = start(routine, NULL);

	want(pthread_cancel(t), 0);
	want(pthread_cancel(t), 0);
	want(finish(t), PTHREAD_CANCELED);
	/* It may be cancelled before it pushes its handler. */
	if (count)
		want(cleaned[0], first);
	if (count > 1)
		want(cleaned[1], second);
	cleaned[0] = cleaned[1] = count = 0;
}

int main(void)
{
	pthread_mutexattr_t a;
	pthread_t t;

	want(pthread_mutexattr_init(&a), 0);
	want(pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK), 0);
	want(pthread_mutex_init(&m, &a), 0);
	want(sem_init(&never, 0, 0) + sem_init(&reached, 0, 0) + sem_init(&go_on, 0, 0), 0);
	want(pipe(fds), 0);

	t = start(waits, NULL);
	sem_wait(&reached);
	want(pthread_mutex_lock(&m), 0);	/* so that the other thread waits */
	want(pthread_cancel(t), 0);
	want(pthread_mutex_unlock(&m), 0);
	ended(t, 1, 2);
	want(pthread_mutex_trylock(&m), 0);
	want(pthread_mutex_unlock(&m), 0);

	cancelled(waits_for_semaphore, 3, 0);
	cancelled(reads, 4, 0);
	sleeper = start(sleeps, NULL);
	cancelled(joins, 5, 0);
	want(pthread_cancel(sleeper), 0);
	ended(sleeper, 0, 0);

	t = start(disables, NULL);
	sem_wait(&reached);
	want(pthread_cancel(t), 0);
	sem_post(&go_on);
	ended(t, 6, 7);

	want(pthread_mutex_lock(&m), 0);
	t = start(locks, NULL);
	want(pthread_cancel(t), 0);
	want(pthread_mutex_unlock(&m), 0);
	ended(t, 8, 0);
	return 0;
}

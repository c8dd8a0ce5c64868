/* Every pthread_mutex_* call on every type of mutex, with its failures. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, checking, adaptive, by_default;
static const struct timespec past = { 1, 0 };

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void init(pthread_mutex_t *m, int type)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	want(pthread_mutex_init(m, &attr), 0);
	pthread_mutexattr_destroy(&attr);
}

static void one_thread(void)
{
	want(pthread_mutex_lock(&normal), 0);
	want(pthread_mutex_trylock(&normal), EBUSY);
	want(pthread_mutex_unlock(&normal), 0);
	want(pthread_mutex_trylock(&normal), 0);
	want(pthread_mutex_unlock(&normal), 0);

	want(pthread_mutex_lock(&recursive), 0);
	want(pthread_mutex_lock(&recursive), 0);
	want(pthread_mutex_trylock(&recursive), 0);
	want(pthread_mutex_unlock(&recursive), 0);
	want(pthread_mutex_unlock(&recursive), 0);
	want(pthread_mutex_unlock(&recursive), 0);
	want(pthread_mutex_unlock(&recursive), EPERM);

	want(pthread_mutex_lock(&checking), 0);
	want(pthread_mutex_lock(&checking), EDEADLK);
	want(pthread_mutex_trylock(&checking), EBUSY);
	want(pthread_mutex_unlock(&checking), 0);
	want(pthread_mutex_unlock(&checking), EPERM);

	want(pthread_mutex_lock(&adaptive), 0);
	want(pthread_mutex_unlock(&adaptive), 0);

	want(pthread_mutex_timedlock(&by_default, &past), 0);
	want(pthread_mutex_unlock(&by_default), 0);
	want(pthread_mutex_clocklock(&by_default, CLOCK_MONOTONIC, &past), 0);
	want(pthread_mutex_destroy(&by_default), EBUSY);
	want(pthread_mutex_unlock(&by_default), 0);
}

/* runs while main holds `normal` and `checking` */
static void *loser(void *arg)
{
	want(pthread_mutex_trylock(&normal), EBUSY);
	want(pthread_mutex_timedlock(&normal, &past), ETIMEDOUT);
	want(pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	want(pthread_mutex_unlock(&checking), EPERM);
	return arg;
}

static void *winner(void *arg)
{
	want(pthread_mutex_lock(&normal), 0);
	want(pthread_mutex_unlock(&normal), 0);
	return arg;
}

int main(void)
{
	pthread_t t;

	init(&recursive, PTHREAD_MUTEX_RECURSIVE);
	init(&checking, PTHREAD_MUTEX_ERRORCHECK);
	init(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
	want(pthread_mutex_init(&by_default, NULL), 0);
	one_thread();

	want(pthread_mutex_lock(&normal), 0);
	want(pthread_mutex_lock(&checking), 0);
	want(pthread_create(&t, NULL, loser, NULL), 0);
	want(pthread_join(t, NULL), 0);
	want(pthread_mutex_unlock(&checking), 0);
	want(pthread_mutex_unlock(&normal), 0);
	want(pthread_create(&t, NULL, winner, NULL), 0);
	want(pthread_join(t, NULL), 0);

	want(pthread_mutex_destroy(&recursive), 0);
	want(pthread_mutex_destroy(&checking), 0);
	want(pthread_mutex_destroy(&adaptive), 0);
	want(pthread_mutex_destroy(&by_default), 0);
	return 0;
}

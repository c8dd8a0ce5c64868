/*
 * Every pthread_cond_* call. A waiter reports that it is there while it still holds the mutex, so a
 * thread that gets the mutex afterwards finds it waiting.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t fixed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t made;
static sem_t there;

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void *one(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	sem_post(&there);
	want(pthread_cond_wait(&fixed, &m), 0);
	want(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void *many(void *arg)
{
	static const struct timespec never = { 1l << 40, 0 };

	want(pthread_mutex_lock(&m), 0);
	sem_post(&there);
	want(pthread_cond_timedwait(&made, &m, &never), 0);
	want(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void wake_one(void)
{
	pthread_t t;

	want(pthread_create(&t, NULL, one, NULL), 0);
	sem_wait(&there);
	want(pthread_mutex_lock(&m), 0);
	want(pthread_cond_signal(&fixed), 0);
	want(pthread_mutex_unlock(&m), 0);
	want(pthread_join(t, NULL), 0);
}

static void wake_all(void)
{
	pthread_t t, u;

	want(pthread_create(&t, NULL, many, NULL), 0);
	want(pthread_create(&u, NULL, many, NULL), 0);
	sem_wait(&there);
	sem_wait(&there);
	want(pthread_mutex_lock(&m), 0);
	want(pthread_cond_broadcast(&made), 0);
	want(pthread_mutex_unlock(&m), 0);
	want(pthread_join(t, NULL), 0);
	want(pthread_join(u, NULL), 0);
}

static void too_late(void)
{
	static const struct timespec past = { 1, 0 };

	want(pthread_mutex_lock(&m), 0);
	want(pthread_cond_timedwait(&fixed, &m, &past), ETIMEDOUT);
	want(pthread_cond_clockwait(&fixed, &m, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	want(pthread_mutex_unlock(&m), 0);
	want(pthread_cond_wait(&fixed, &checking), EPERM);
}

int main(void)
{
	sem_init(&there, 0, 0);
	want(pthread_cond_init(&made, NULL), 0);
	want(pthread_cond_signal(&made), 0);
	want(pthread_cond_broadcast(&fixed), 0);
	wake_one();
	wake_all();
	too_late();
	want(pthread_cond_destroy(&made), 0);
	return 0;
}

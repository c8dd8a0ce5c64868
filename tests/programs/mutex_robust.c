/* A robust mutex whose owner died: taken over once, then unusable for good. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t m;

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void *dies_with_it(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	return arg;
}

static void let_one_die(void)
{
	pthread_t t;

	want(pthread_create(&t, NULL, dies_with_it, NULL), 0);
	want(pthread_join(t, NULL), 0);
}

int main(void)
{
	static const struct timespec past = { 1, 0 };
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	want(pthread_mutex_init(&m, &attr), 0);
	pthread_mutexattr_destroy(&attr);

	let_one_die();
	want(pthread_mutex_lock(&m), EOWNERDEAD);
	want(pthread_mutex_consistent(&m), 0);
	want(pthread_mutex_consistent(&m), EINVAL);
	want(pthread_mutex_unlock(&m), 0);

	let_one_die();
	want(pthread_mutex_trylock(&m), EOWNERDEAD);
	want(pthread_mutex_consistent(&m), 0);
	want(pthread_mutex_unlock(&m), 0);

	let_one_die();
	want(pthread_mutex_timedlock(&m, &past), EOWNERDEAD);
	want(pthread_mutex_unlock(&m), 0);
	want(pthread_mutex_lock(&m), ENOTRECOVERABLE);
	want(pthread_mutex_destroy(&m), 0);
	return 0;
}

/* options: --timeouts */
/*
 * Recursive and error-checking mutexes, trylock and time-outs, with every result checked. Broken: a
 * thread that did not get the lock continues as if it had.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

#define THREADS 2

static pthread_mutex_t nested, checked, tried = PTHREAD_MUTEX_INITIALIZER,
					timed = PTHREAD_MUTEX_INITIALIZER;
static int depth_sum, checked_sum, tried_sum, missed[THREADS], timed_sum, late[THREADS];

static void recurse(int levels)
{
	pthread_mutex_lock(&nested);
	depth_sum++;
	if (levels > 1)
		recurse(levels - 1);
	pthread_mutex_unlock(&nested);
}

static void with_time(int me)
{
	struct timespec until;
	int got;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec = (until.tv_nsec + 1000) % 1000000000;
	got = pthread_mutex_timedlock(&timed, &until);
	assert(got == 0 || got == ETIMEDOUT);
	if (got == 0) {
		timed_sum++;
		pthread_mutex_unlock(&timed);
	} else {
		late[me]++;
	}
}

static void with_luck(int me)
{
	int got = pthread_mutex_trylock(&tried);

#ifdef BROKEN
	got = 0;
#endif
	if (got == 0) {
		tried_sum++;
		recurse(1);
		pthread_mutex_unlock(&tried);
	} else {
		missed[me]++;
		recurse(1);
	}
}

static void *worker(void *arg)
{
	int me = *(int *)arg;

	recurse(2);
	pthread_mutex_lock(&checked);
	assert(pthread_mutex_lock(&checked) == EDEADLK);
	checked_sum++;
	pthread_mutex_unlock(&checked);
	with_luck(me);
	with_time(me);
	return arg;
}

static void init(pthread_mutex_t *mutex, int type)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

int main(void)
{
	int number[THREADS] = { 0, 1 };
	pthread_t threads[THREADS];

	init(&nested, PTHREAD_MUTEX_RECURSIVE);
	init(&checked, PTHREAD_MUTEX_ERRORCHECK);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, &number[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(depth_sum == 3 * THREADS && checked_sum == THREADS);
	assert(tried_sum + missed[0] + missed[1] == THREADS);
	assert(timed_sum + late[0] + late[1] == THREADS);
	return 0;
}

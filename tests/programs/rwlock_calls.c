/* Every pthread_rwlock_* call, successful and refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_rwlock_t fixed = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t made;
static const struct timespec past = { 1, 0 };

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

/* runs while main holds a read lock */
static void *beside_reader(void *arg)
{
	want(pthread_rwlock_rdlock(&fixed), 0);
	want(pthread_rwlock_unlock(&fixed), 0);
	want(pthread_rwlock_tryrdlock(&fixed), 0);
	want(pthread_rwlock_unlock(&fixed), 0);
	want(pthread_rwlock_trywrlock(&fixed), EBUSY);
	want(pthread_rwlock_timedwrlock(&fixed, &past), ETIMEDOUT);
	want(pthread_rwlock_clockwrlock(&fixed, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	return arg;
}

/* runs while main holds the write lock */
static void *beside_writer(void *arg)
{
	want(pthread_rwlock_tryrdlock(&fixed), EBUSY);
	want(pthread_rwlock_timedrdlock(&fixed, &past), ETIMEDOUT);
	want(pthread_rwlock_clockrdlock(&fixed, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	return arg;
}

static void run(void *(*routine)(void *))
{
	pthread_t t;

	want(pthread_create(&t, NULL, routine, NULL), 0);
	want(pthread_join(t, NULL), 0);
}

int main(void)
{
	want(pthread_rwlock_rdlock(&fixed), 0);
	want(pthread_rwlock_rdlock(&fixed), 0);
	run(beside_reader);
	want(pthread_rwlock_unlock(&fixed), 0);
	want(pthread_rwlock_unlock(&fixed), 0);

	want(pthread_rwlock_wrlock(&fixed), 0);
	want(pthread_rwlock_wrlock(&fixed), EDEADLK);
	want(pthread_rwlock_rdlock(&fixed), EDEADLK);
	run(beside_writer);
	want(pthread_rwlock_unlock(&fixed), 0);

	want(pthread_rwlock_init(&made, NULL), 0);
	want(pthread_rwlock_trywrlock(&made), 0);
	want(pthread_rwlock_unlock(&made), 0);
	want(pthread_rwlock_timedrdlock(&made, &past), 0);
	want(pthread_rwlock_unlock(&made), 0);
	want(pthread_rwlock_timedwrlock(&made, &past), 0);
	want(pthread_rwlock_unlock(&made), 0);
	want(pthread_rwlock_clockrdlock(&made, CLOCK_REALTIME, &past), 0);
	want(pthread_rwlock_unlock(&made), 0);
	want(pthread_rwlock_clockwrlock(&made, CLOCK_REALTIME, &past), 0);
	want(pthread_rwlock_unlock(&made), 0);
	want(pthread_rwlock_destroy(&made), 0);
	return 0;
}

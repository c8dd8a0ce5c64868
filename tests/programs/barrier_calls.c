/* Three threads through a barrier, twice. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t b;
static int serial;	/* how often a thread got PTHREAD_BARRIER_SERIAL_THREAD */

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void pass(void)
{
	int got = pthread_barrier_wait(&b);

	if (got == PTHREAD_BARRIER_SERIAL_THREAD)
		__atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
	else
		want(got, 0);
}

static void *other(void *arg)
{
	pass();
	pass();
	return arg;
}

int main(void)
{
	pthread_t t, u;

	want(pthread_barrier_init(&b, NULL, 0), EINVAL);
	want(pthread_barrier_init(&b, NULL, 3), 0);
	want(pthread_create(&t, NULL, other, NULL), 0);
	want(pthread_create(&u, NULL, other, NULL), 0);
	other(NULL);
	want(pthread_join(t, NULL), 0);
	want(pthread_join(u, NULL), 0);
	want(serial, 2);
	want(pthread_barrier_destroy(&b), 0);
	return 0;
}

/* Every pthread_spin_* call; one lock has to wait for another thread. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_spinlock_t s;

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void *other(void *arg)
{
	want(pthread_spin_trylock(&s), EBUSY);
	return arg;
}

static void *waits(void *arg)
{
	want(pthread_spin_lock(&s), 0);
	want(pthread_spin_unlock(&s), 0);
	return arg;
}

int main(void)
{
	pthread_t t;

	want(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE), 0);
	want(pthread_spin_lock(&s), 0);
	want(pthread_create(&t, NULL, other, NULL), 0);
	want(pthread_join(t, NULL), 0);
	want(pthread_create(&t, NULL, waits, NULL), 0);
	want(pthread_spin_unlock(&s), 0);
	want(pthread_join(t, NULL), 0);
	want(pthread_spin_trylock(&s), 0);
	want(pthread_spin_unlock(&s), 0);
	want(pthread_spin_destroy(&s), 0);
	return 0;
}

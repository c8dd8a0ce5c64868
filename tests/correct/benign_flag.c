/* races */
/*
 * A plain flag tells a thread to stop. The thread sees it eventually; nothing else depends on it.
 * Broken: other data depends on it.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static volatile int stop;
static int rounds, last;

static void *worker(void *arg)
{
	do {
		rounds++;
		sched_yield();
	} while (!stop);
#ifdef BROKEN
	assert(last == 5);
#endif
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, worker, NULL);
	stop = 1;
	last = 5;
	pthread_join(thread, NULL);
	assert(rounds > 0 && last == 5);
	return 0;
}

/*
 * Detached threads: created so, or detached by themselves or by others. Semaphores report their
 * end; some still run when main returns.
 */
#include "want.h"

#include <semaphore.h>

#define THREADS 3

static sem_t ended, never;
static int results[3 * THREADS];

static void *works(void *arg)
{
	*(int *)arg = 1;
	sem_post(&ended);
	return NULL;
}

static void *detaches_itself(void *arg)
{
	want(pthread_detach(pthread_self()), 0);
	return works(arg);
}

static void *stays(void *arg)
{
	sem_wait(&never);
	abort();
	return arg;
}

int main(void)
{
	pthread_attr_t a;
	pthread_t t;

	want(sem_init(&ended, 0, 0) + sem_init(&never, 0, 0), 0);
	want(pthread_attr_init(&a), 0);
	want(pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED), 0);
	for (int i = 0; i < THREADS; i++) {
		want(pthread_create(&t, &a, works, &results[3 * i]), 0);
		start(detaches_itself, &results[3 * i + 1]);
		want(pthread_detach(start(works, &results[3 * i + 2])), 0);
	}
	want(pthread_create(&t, &a, stays, NULL), 0);
	for (int i = 0; i < 3 * THREADS; i++)
		want(sem_wait(&ended), 0);
	for (int i = 0; i < 3 * THREADS; i++)
		want(results[i], 1);
	return 0;
}

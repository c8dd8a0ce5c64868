/*
 * options: --expect-exit 7
 * One of two workers calls exit() while other threads wait in all ways; its handlers run in that
 * thread, streams are flushed, and the other threads do not continue.
 */
#include "want.h"

#include <semaphore.h>
#include <stdatomic.h>

static pthread_t caller;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static atomic_int went_on;

static void handler(void)
{
	want(pthread_equal(pthread_self(), caller), 1);
	printf("handler\n");
}

static void *leaves(void *arg)
{
	caller = pthread_self();
	exit(7);
	return arg;
}

static void *holds(void *arg)
{
	pthread_mutex_lock(&held);
	sem_wait(&never);
	went_on = 1;
	return arg;
}

static void *looks(void *arg)
{
	while (!went_on)
		;
	abort();
	return arg;
}

int main(void)
{
	want(atexit(handler), 0);
	want(sem_init(&never, 0, 0), 0);
	printf("main\n");
	start(holds, NULL);
	start(looks, NULL);
	finish(start(leaves, NULL));
	abort();
}

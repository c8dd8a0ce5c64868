/*
 * runs: 10
 * 300 threads one after another, and 300 detached ones of which a few run at once.
 */
#include "want.h"

#include <semaphore.h>

#define THREADS 300

static int counter;
static sem_t room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *counts(void *arg)
{
	counter++;
	return arg;
}

static void *counts_detached(void *arg)
{
	pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
	sem_post(&room);
	return arg;
}

int main(void)
{
	for (int i = 0; i < THREADS; i++)
		finish(start(counts, NULL));
	want(counter, THREADS);
	want(sem_init(&room, 0, 4), 0);
	for (int i = 0; i < THREADS; i++) {
		want(sem_wait(&room), 0);
		want(pthread_detach(start(counts_detached, NULL)), 0);
	}
	for (int i = 0; i < 4; i++)
		want(sem_wait(&room), 0);
	want(counter, 2 * THREADS);
	return 0;
}

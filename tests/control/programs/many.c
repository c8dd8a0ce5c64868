/* 64 threads at once: a barrier, one lock, an order of arrival that is a permutation. */
#include "want.h"

#include <stdatomic.h>

#define THREADS 64

static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int in;
static int order[THREADS], arrived, seen[THREADS];

static void *works(void *arg)
{
	int mine = (int)(long)arg;

	in++;
	pthread_barrier_wait(&all);
	want(in, THREADS);
	pthread_mutex_lock(&lock);
	order[arrived++] = mine;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t t[THREADS];

	want(pthread_barrier_init(&all, NULL, THREADS), 0);
	for (long i = 0; i < THREADS; i++)
		t[i] = start(works, (void *)i);
	for (long i = 0; i < THREADS; i++)
		want(finish(t[i]), i);
	want(arrived, THREADS);
	for (int i = 0; i < THREADS; i++)
		want(seen[order[i]]++, 0);
	return 0;
}

/*
 * Phases between barriers: each thread writes its own cell, then reads its neighbour's, without a
 * lock. Broken: no barrier between reading and the next write.
 */
#include <assert.h>
#include <pthread.h>

#define THREADS 3
#define PHASES 2

static pthread_barrier_t barrier;
static int cell[THREADS];

static void *worker(void *arg)
{
	int me = *(int *)arg;

	for (int phase = 1; phase <= PHASES; phase++) {
		int right;

		cell[me] = phase * 10 + me;
		pthread_barrier_wait(&barrier);
		right = cell[(me + 1) % THREADS];
		assert(right == phase * 10 + (me + 1) % THREADS);
#ifndef BROKEN
		pthread_barrier_wait(&barrier);
#endif
	}
	return arg;
}

int main(void)
{
	int number[THREADS] = { 0, 1, 2 };
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, &number[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	return 0;
}

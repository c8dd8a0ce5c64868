/* floor 0; bug: race|atomicity|atomicity2|order cells */
/*
 * Three threads compute in phases: each reads its neighbour's cell of the last phase and writes its
 * own. BROKEN: there is no barrier between reading and writing.
 */
#include <pthread.h>

#define THREADS 3
#define PHASES 4

static pthread_barrier_t barrier;
static int cells[THREADS] = { 1, 2, 3 };

static void *worker(void *arg)
{
	long self = (long)arg;

	for (int phase = 0; phase < PHASES; phase++) {
		int value = cells[(self + 1) % THREADS];

#ifndef BROKEN
		pthread_barrier_wait(&barrier);
#endif
		cells[self] = value + 1;	/* bug */
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
#ifdef BROKEN
	return 0;
#else
	return cells[0] + cells[1] + cells[2] != 6 + THREADS * PHASES;
#endif
}

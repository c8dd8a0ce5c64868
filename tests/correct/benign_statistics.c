/* races */
/*
 * Plain counters that may lose an increment without harm. Broken: the sum is checked.
 */
#include <assert.h>
#include <pthread.h>

#define THREADS 2
#define ROUNDS 3

static volatile unsigned hits, last;

static void *worker(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		hits = hits + 1;
		last = *(unsigned *)arg;
	}
	return arg;
}

int main(void)
{
	unsigned number[THREADS] = { 1, 2 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, &number[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(last == 1 || last == 2);
#ifdef BROKEN
	assert(hits == THREADS * ROUNDS);
#else
	assert(hits > 0 && hits <= THREADS * ROUNDS);
#endif
	return 0;
}

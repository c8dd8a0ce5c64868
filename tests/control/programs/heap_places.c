/*
 * Prints addresses of blocks. One schedule always gives the same output; here each thread's own
 * blocks have the same addresses under every schedule.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3
#define BLOCKS 50

static void *place[THREADS][BLOCKS];
static volatile int shared;

static void *worker(void *arg)
{
	size_t n = (size_t)arg;

	for (int i = 0; i < BLOCKS; i++) {
		place[n][i] = malloc((size_t)(i * 37 % 900));
		shared++;
		if (i % 3 == 0)
			free(place[n][i]);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, worker, (void *)i) != 0)
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int n = 0; n < THREADS; n++)
		for (int i = 0; i < BLOCKS; i++)
			printf("%d %d %p\n", n, i, place[n][i]);
	return 0;
}

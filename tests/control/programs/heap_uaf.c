/*
 * fails: uaf. Under every schedule: use in use(), free in worker(), malloc in main();
 * a 4-byte read at +8 of a 64-byte block allocated by thread 0, freed by thread 0.1.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *worker(void *p)
{
	free(p);
	return NULL;
}

static __attribute__((noinline)) int use(const int *p)
{
	return p[2];
}

int main(void)
{
	int *p = calloc(16, sizeof(*p));
	pthread_t t;

	if (!p || pthread_create(&t, NULL, worker, p) != 0)
		return 2;
	pthread_join(t, NULL);
	printf("not noticed: %d\n", use(p));
	return 0;
}

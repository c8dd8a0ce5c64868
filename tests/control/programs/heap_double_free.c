/*
 * fails: double-free. Under every schedule: second free in drop() called by main(),
 * first free in drop() called by worker(), malloc in main(); a 24-byte block
 * allocated by thread 0, freed by thread 0.1.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void drop(void *p)
{
	free(p);
}

static void *worker(void *p)
{
	drop(p);
	return NULL;
}

int main(void)
{
	void *p = malloc(24);
	pthread_t t;

	if (!p || pthread_create(&t, NULL, worker, p) != 0)
		return 2;
	pthread_join(t, NULL);
	drop(p);
	puts("not noticed");
	return 0;
}

/*
 * A small program of two threads, as a unit test would be: a few locked and
 * unlocked accesses each. With an argument it first fills that many MB.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked, plain;

static void *work(void *arg)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&lock);
		locked++;
		pthread_mutex_unlock(&lock);
		plain = plain + 1;
	}
	return arg;
}

/* A table whose every entry depends on the ones before: work that a run cannot skip. */
static unsigned fill(long megabytes)
{
	size_t n = (size_t)megabytes * (1 << 20) / sizeof(unsigned);
	unsigned *table = malloc(n * sizeof(*table));
	unsigned sum = 1;

	for (size_t i = 0; table && i < n; i++)
		table[i] = sum = sum * 1664525u + 1013904223u;
	return sum;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned sum = argc > 1 ? fill(atol(argv[1])) : 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (locked != 10 || sum == 1)
		return 1;
	return 0;
}

/*
 * Home-made synchronisation: one thread spins until the other one is ready. Data cannot be read
 * before it is written, though no library call says so.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int ready;
static int data, seen;

static void *waits(void *arg)
{
	while (!atomic_load_explicit(&ready, memory_order_acquire))
		;
	seen = data;
	return arg;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, waits, NULL) != 0)
		return 3;
	data = 42;
	atomic_store_explicit(&ready, 1, memory_order_release);
	pthread_join(t, NULL);
	printf("%d\n", seen);
	return seen != 42;
}

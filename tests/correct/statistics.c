/*
 * Statistics in relaxed atomics: unordered, but no increment is lost. Broken: an increment is a
 * load and a store.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3
#define ROUNDS 4

static _Atomic unsigned long requests, bytes, largest;

static void count(_Atomic unsigned long *counter, unsigned long n)
{
#ifdef BROKEN
	unsigned long old = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, old + n, memory_order_relaxed);
#else
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
#endif
}

static void at_least(_Atomic unsigned long *most, unsigned long n)
{
	unsigned long old = atomic_load_explicit(most, memory_order_relaxed);

	while (old < n && !atomic_compare_exchange_weak_explicit(
				  most, &old, n, memory_order_relaxed, memory_order_relaxed))
		;
}

static void *serve(void *arg)
{
	unsigned long size = *(unsigned long *)arg;

	for (int i = 0; i < ROUNDS; i++) {
		count(&requests, 1);
		count(&bytes, size);
		at_least(&largest, size);
	}
	return arg;
}

int main(void)
{
	unsigned long size[THREADS] = { 10, 30, 20 }, seen;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, &size[i]);
	/* read while the workers run: any part of the counts may be visible, in any order */
	seen = atomic_load_explicit(&requests, memory_order_relaxed);
	assert(seen <= THREADS * ROUNDS);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(requests == THREADS * ROUNDS);
	assert(bytes == 60 * ROUNDS);
	assert(largest == 30);
	return 0;
}

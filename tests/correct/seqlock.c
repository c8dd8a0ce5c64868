/*
 * A sequence lock as C11 requires: the data is in relaxed atomics, fences keep the order. Readers
 * see halves of an update and discard them. Broken: they use them.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 3

static _Atomic unsigned sequence;
static atomic_int left = 100, right;

static void *writer(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
		int amount = i + 1;

		atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
		atomic_store_explicit(&left,
				      atomic_load_explicit(&left, memory_order_relaxed) - amount,
				      memory_order_relaxed);
		atomic_store_explicit(&right,
				      atomic_load_explicit(&right, memory_order_relaxed) + amount,
				      memory_order_relaxed);
		atomic_store_explicit(&sequence, s + 2, memory_order_release);
	}
	return arg;
}

static int total(void)
{
	unsigned before, after;
	int sum;

	do {
		before = atomic_load_explicit(&sequence, memory_order_acquire);
		sum = atomic_load_explicit(&left, memory_order_relaxed) +
		      atomic_load_explicit(&right, memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&sequence, memory_order_relaxed);
#ifdef BROKEN
		after = before = 0;
#endif
	} while (before != after || before % 2);
	return sum;
}

static void *reader(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		assert(total() == 100);
	return arg;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	pthread_create(&threads[2], NULL, reader, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert(total() == 100 && left == 94);
	return 0;
}

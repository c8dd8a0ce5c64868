/*
 * A ring for one producer and one consumer: indices are atomic, slots are plain. Broken: the
 * producer advances the index before it fills the slot.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SIZE 2u
#define ITEMS 5

static int slot[SIZE];
static _Atomic unsigned head, tail;	/* next to be read, next to be written */

static bool put(int value)
{
	unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);

	if (t - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
		return false;
#ifdef BROKEN
	atomic_store_explicit(&tail, t + 1, memory_order_release);
	slot[t % SIZE] = value;
#else
	slot[t % SIZE] = value;
	atomic_store_explicit(&tail, t + 1, memory_order_release);
#endif
	return true;
}

static bool get(int *value)
{
	unsigned h = atomic_load_explicit(&head, memory_order_relaxed);

	if (h == atomic_load_explicit(&tail, memory_order_acquire))
		return false;
	*value = slot[h % SIZE];
	atomic_store_explicit(&head, h + 1, memory_order_release);
	return true;
}

static void *producer(void *arg)
{
	for (int i = 1; i <= ITEMS; i++)
		while (!put(i * i))
			;
	return arg;
}

int main(void)
{
	pthread_t thread;
	int value;

	pthread_create(&thread, NULL, producer, NULL);
	for (int i = 1; i <= ITEMS; i++) {
		while (!get(&value))
			;
		assert(value == i * i);
	}
	pthread_join(thread, NULL);
	assert(!get(&value));
	return 0;
}

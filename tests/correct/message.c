/*
 * Message passing: a plain payload, published by a release store and read after an
 * acquire load. Broken: the flag is set before the payload is there.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 3

static int payload[4];
static atomic_int ready, taken;

static void *sender(void *arg)
{
	for (int round = 1; round <= ROUNDS; round++) {
		while (atomic_load_explicit(&taken, memory_order_acquire) != round - 1)
			;
#ifdef BROKEN
		atomic_store_explicit(&ready, round, memory_order_release);
#endif
		for (int i = 0; i < 4; i++)
			payload[i] = round * 10 + i;
#ifndef BROKEN
		atomic_store_explicit(&ready, round, memory_order_release);
#endif
	}
	return arg;
}

static void *receiver(void *arg)
{
	for (int round = 1; round <= ROUNDS; round++) {
		while (atomic_load_explicit(&ready, memory_order_acquire) != round)
			;
		for (int i = 0; i < 4; i++)
			assert(payload[i] == round * 10 + i);
		atomic_store_explicit(&taken, round, memory_order_release);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, sender, NULL);
	pthread_create(&threads[1], NULL, receiver, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert(payload[3] == ROUNDS * 10 + 3);
	return 0;
}

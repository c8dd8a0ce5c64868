/*
 * A lock-free stack of indices into a pool that is never freed; a tag beside the top distinguishes
 * a node that came back from one that stayed (ABA). Broken: the top is read and written in two
 * steps.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define NODES 3
#define NONE 0xffffu

static _Atomic uint32_t next_of[NODES];
static int owner[NODES];		/* plain: number of the thread that popped it */
static _Atomic uint32_t top = NONE;	/* index in the low bits, tag above it */

static int swap_top(uint32_t *old, uint32_t new)
{
#ifdef BROKEN
	if (atomic_load(&top) != *old)
		return 0;
	atomic_store(&top, new);
	return 1;
#else
	return atomic_compare_exchange_weak_explicit(&top, old, new, memory_order_acq_rel,
						     memory_order_acquire);
#endif
}

static void push(uint32_t n)
{
	uint32_t old;

	do {
		old = atomic_load_explicit(&top, memory_order_acquire);
		atomic_store_explicit(&next_of[n], old & 0xffff, memory_order_relaxed);
	} while (!swap_top(&old, ((old >> 16) + 1) << 16 | n));
}

static uint32_t pop(void)
{
	uint32_t old, n, next;

	do {
		old = atomic_load_explicit(&top, memory_order_acquire);
		n = old & 0xffff;
		if (n == NONE)
			return NONE;
		next = atomic_load_explicit(&next_of[n], memory_order_relaxed);
	} while (!swap_top(&old, ((old >> 16) + 1) << 16 | next));
	return n;
}

static void *worker(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < 2; i++) {
		uint32_t n = pop();

		assert(n != NONE);
		owner[n] = me;
		assert(owner[n] == me);
		push(n);
	}
	return arg;
}

int main(void)
{
	int number[2] = { 1, 2 }, count = 0;
	pthread_t threads[2];

	for (uint32_t i = 0; i < NODES; i++)
		push(i);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, &number[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	while (count <= NODES && pop() != NONE)
		count++;
	assert(count == NODES);
	return 0;
}

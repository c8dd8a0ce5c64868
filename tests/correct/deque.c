/*
 * A work-stealing deque: its owner pushes and pops at one end, a thief steals at the other; they
 * compete only for the last item (Chase and Lev 2005). Broken: without competition.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 8
#define ITEMS 4
#define NONE (-1)

static atomic_int item[SIZE], done[ITEMS];
static atomic_long top, bottom;

static void push(int value)
{
	long b = atomic_load(&bottom);

	atomic_store(&item[b % SIZE], value);
	atomic_store(&bottom, b + 1);
}

static int pop(void)
{
	long b = atomic_load(&bottom) - 1, t;
	int value = NONE;

	atomic_store(&bottom, b);
	t = atomic_load(&top);
	if (t <= b)
		value = atomic_load(&item[b % SIZE]);
	if (t < b)
		return value;
#ifndef BROKEN
	if (t == b && !atomic_compare_exchange_strong(&top, &t, t + 1))
		value = NONE;
#endif
	atomic_store(&bottom, b + 1);
	return value;
}

static int steal(void)
{
	long t = atomic_load(&top);
	int value;

	if (t >= atomic_load(&bottom))
		return NONE;
	value = atomic_load(&item[t % SIZE]);
	return atomic_compare_exchange_strong(&top, &t, t + 1) ? value : NONE;
}

static void *thief(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
		int value = steal();

		if (value != NONE)
			atomic_fetch_add(&done[value], 1);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	int value;

	for (int i = 0; i < 2; i++)
		push(i);
	pthread_create(&thread, NULL, thief, NULL);
	for (int i = 2; i < ITEMS; i++) {
		push(i);
		value = pop();
		if (value != NONE)
			atomic_fetch_add(&done[value], 1);
	}
	pthread_join(thread, NULL);
	for (int i = 0; i < ITEMS && (value = pop()) != NONE; i++)
		atomic_fetch_add(&done[value], 1);
	for (int i = 0; i < ITEMS; i++)
		assert(done[i] == 1);
	return 0;
}

/*
 * Waiting without a primitive: loops that only read, in all common forms. Under control the other
 * threads get their turn, and no loop is taken for a hang.
 */
#include "want.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 4

static atomic_int flag, turn, next_ticket, served;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int data, counter, done;
static unsigned long spins[THREADS];

static void *sets_flag(void *arg)
{
	data = 42;
	atomic_store_explicit(&flag, 1, memory_order_release);
	return arg;
}

static void await_flag(void)
{
	while (!atomic_load_explicit(&flag, memory_order_acquire))
		;
}

static void await_flag_yielding(void)
{
	while (!atomic_load_explicit(&flag, memory_order_acquire))
		sched_yield();
}

/* The loop writes only to its own memory. */
static void await_flag_counting(void)
{
	volatile unsigned long rounds = 0;

	while (!atomic_load_explicit(&flag, memory_order_acquire))
		rounds++;
	spins[0] += rounds;
}

static void await_flag_sleeping(void)
{
	while (!atomic_load_explicit(&flag, memory_order_acquire))
		usleep(10);
}

static void await_flag_backing_off(void)
{
	for (unsigned wait = 1; !atomic_load_explicit(&flag, memory_order_acquire); wait *= 2) {
		for (volatile unsigned i = 0; i < wait % 1024; i++)
			;
		if (wait > 1024)
			sched_yield();
	}
}

static void with_flag(void (*await)(void))
{
	pthread_t t;

	atomic_store(&flag, 0);
	data = 0;
	t = start(sets_flag, NULL);
	await();
	want(data, 42);
	finish(t);
}

static void *test_and_set(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
			;
		counter++;
		atomic_flag_clear_explicit(&taken, memory_order_release);
	}
	return arg;
}

/* Its counter lies next to those of other threads, in memory that all can reach. */
static void *compare_and_swap(void *arg)
{
	unsigned long *mine = arg;
	static atomic_int lock;

	for (int i = 0; i < ROUNDS; i++) {
		int free_ = 0;

		while (!atomic_compare_exchange_weak(&lock, &free_, 1)) {
			free_ = 0;
			++*mine;
		}
		counter++;
		atomic_store(&lock, 0);
	}
	return NULL;
}

static void *ticket(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		int mine = atomic_fetch_add(&next_ticket, 1);

		while (atomic_load(&served) != mine)
			;
		counter++;
		atomic_fetch_add(&served, 1);
	}
	return arg;
}

static void *try_lock(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (pthread_mutex_trylock(&mutex) != 0)
			;
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

/* Takes a lock for each look. */
static void *locked_look(void *arg)
{
	int seen = 0;

	while (!seen) {
		pthread_mutex_lock(&mutex);
		seen = done;
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void *in_turn(void *arg)
{
	int mine = (int)((unsigned long *)arg - spins);

	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_load(&turn) % THREADS != mine)
			;
		counter++;
		atomic_fetch_add(&turn, 1);
	}
	return NULL;
}

static void all(void *(*routine)(void *))
{
	pthread_t t[THREADS];

	counter = 0;
	for (int i = 0; i < THREADS; i++)
		t[i] = start(routine, &spins[i]);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	want(counter, THREADS * ROUNDS);
}

static void until_later(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 50000);
}

int main(void)
{
	pthread_t t;

	with_flag(await_flag);
	with_flag(await_flag_yielding);
	with_flag(await_flag_counting);
	with_flag(await_flag_sleeping);
	with_flag(await_flag_backing_off);
	all(test_and_set);
	all(compare_and_swap);
	all(ticket);
	all(try_lock);
	all(in_turn);
	t = start(locked_look, NULL);
	pthread_mutex_lock(&mutex);
	done = 1;
	pthread_mutex_unlock(&mutex);
	finish(t);
	until_later();
	return 0;
}

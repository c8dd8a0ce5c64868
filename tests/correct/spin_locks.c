/*
 * Home-made spin locks: by exchange, by tickets, by compare-and-swap with growing pauses. They
 * protect plain data. Broken: the first one checks and sets in two steps.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS 2
#define ROUNDS 2

static atomic_int word, owner;
static _Atomic unsigned next_ticket, now_serving;
static int by_word, by_ticket, by_owner;

static void take_word(void)
{
#ifdef BROKEN
	while (atomic_load(&word))
		;
	atomic_store(&word, 1);
#else
	while (atomic_exchange_explicit(&word, 1, memory_order_acquire))
		while (atomic_load_explicit(&word, memory_order_relaxed))
			;
#endif
}

static void take_ticket(void)
{
	unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);

	while (atomic_load_explicit(&now_serving, memory_order_acquire) != mine)
		sched_yield();
}

static void give_ticket(void)
{
	unsigned mine = atomic_load_explicit(&now_serving, memory_order_relaxed);

	atomic_store_explicit(&now_serving, mine + 1, memory_order_release);
}

static void take_owner(int me)
{
	unsigned pause = 1;
	int none = 0;

	while (!atomic_compare_exchange_weak_explicit(&owner, &none, me, memory_order_acquire,
						      memory_order_relaxed)) {
		none = 0;
		for (volatile unsigned i = 0; i < pause; i++)
			;
		pause = pause < 64 ? pause * 2 : pause;
	}
}

static void *worker(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		take_word();
		by_word++;
		atomic_store_explicit(&word, 0, memory_order_release);
		take_ticket();
		by_ticket++;
		give_ticket();
		take_owner(*(int *)arg);
		by_owner++;
		atomic_store_explicit(&owner, 0, memory_order_release);
	}
	return arg;
}

int main(void)
{
	int number[THREADS] = { 1, 2 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, &number[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(by_word == THREADS * ROUNDS);
	assert(by_ticket == THREADS * ROUNDS);
	assert(by_owner == THREADS * ROUNDS);
	return 0;
}

/*
 * A bounded queue for many producers and consumers. Each cell has a sequence number that says
 * whose turn it is; the values are plain. Broken: a cell is handed on before its value is written
 * to it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SIZE 2u
#define EACH 2

struct cell {
	_Atomic unsigned turn;
	int value;
};

static struct cell cells[SIZE];
static _Atomic unsigned put_at, get_at;
static atomic_int seen[2 * EACH + 1];

/* Returns the cell of the next ticket once its sequence number is ticket + ahead. */
static struct cell *claim(_Atomic unsigned *counter, unsigned ahead, unsigned *ticket)
{
	unsigned t = atomic_load_explicit(counter, memory_order_relaxed);

	for (;;) {
		struct cell *c = &cells[t % SIZE];

		if (atomic_load_explicit(&c->turn, memory_order_acquire) != t + ahead) {
			t = atomic_load_explicit(counter, memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(counter, &t, t + 1,
								 memory_order_relaxed,
								 memory_order_relaxed)) {
			*ticket = t;
			return c;
		}
	}
}

static void put(int value)
{
	unsigned ticket;
	struct cell *c = claim(&put_at, 0, &ticket);

#ifdef BROKEN
	atomic_store_explicit(&c->turn, ticket + 1, memory_order_release);
	c->value = value;
#else
	c->value = value;
	atomic_store_explicit(&c->turn, ticket + 1, memory_order_release);
#endif
}

static int get(void)
{
	unsigned ticket;
	struct cell *c = claim(&get_at, 1, &ticket);
	int value = c->value;

	atomic_store_explicit(&c->turn, ticket + SIZE, memory_order_release);
	return value;
}

static void *producer(void *arg)
{
	for (int i = 1; i <= EACH; i++)
		put(*(int *)arg + i);
	return arg;
}

static void *consumer(void *arg)
{
	for (int i = 0; i < EACH; i++)
		atomic_fetch_add(&seen[get()], 1);
	return arg;
}

int main(void)
{
	int base[2] = { 0, EACH };
	pthread_t threads[4];

	for (unsigned i = 0; i < SIZE; i++)
		cells[i].turn = i;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i < 2 ? producer : consumer, &base[i % 2]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i <= 2 * EACH; i++)
		assert(seen[i] == 1);
	return 0;
}

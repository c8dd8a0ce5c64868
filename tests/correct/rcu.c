/*
 * Read-copy-update: readers follow a pointer without a lock; the writer publishes a copy, waits
 * until no reader can hold the old one, and frees it. Broken: it does not wait.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define READERS 2
#define ROUNDS 2

struct route {
	int from, to;
};

static struct route *_Atomic current;
static atomic_uint reading[READERS];	/* odd: inside a read-side critical section */

static struct route *make(int from)
{
	struct route *r = malloc(sizeof(*r));

	r->from = from;
	r->to = from + 1;
	return r;
}

static void wait_for_readers(void)
{
#ifndef BROKEN
	for (int i = 0; i < READERS; i++) {
		unsigned seen = atomic_load(&reading[i]);

		while (seen % 2 && atomic_load(&reading[i]) == seen)
			;
	}
#endif
}

static void *reader(void *arg)
{
	atomic_uint *mine = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct route *r;

		atomic_fetch_add(mine, 1);
		r = atomic_load(&current);
		assert(r->to == r->from + 1);
		atomic_fetch_add(mine, 1);
	}
	return arg;
}

static void *writer(void *arg)
{
	for (int i = 1; i <= ROUNDS; i++) {
		struct route *old = atomic_exchange(&current, make(i));

		wait_for_readers();
		old->to = 0;
		free(old);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[READERS + 1];

	atomic_store(&current, make(0));
	for (int i = 0; i < READERS; i++)
		pthread_create(&threads[i], NULL, reader, &reading[i]);
	pthread_create(&threads[READERS], NULL, writer, NULL);
	for (int i = 0; i <= READERS; i++)
		pthread_join(threads[i], NULL);
	assert(atomic_load(&current)->from == ROUNDS);
	free(atomic_load(&current));
	return 0;
}

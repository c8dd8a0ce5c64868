/*
 * A lock-free stack whose nodes are freed while others may read them: a popping thread announces by
 * a hazard pointer what it is about to read. Broken: hazard pointers are ignored.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 2
#define EACH 2

struct node {
	struct node *next;
	int value;
};

static struct node *_Atomic top;
static struct node *_Atomic hazard[THREADS];
static atomic_int sum;

static void push(int value)
{
	struct node *n = malloc(sizeof(*n));

	n->value = value;
	n->next = atomic_load(&top);
	while (!atomic_compare_exchange_weak(&top, &n->next, n))
		;
}

static struct node *pop(int me)
{
	for (;;) {
		struct node *n = atomic_load(&top);

		if (!n)
			return NULL;
		atomic_store(&hazard[me], n);
		if (atomic_load(&top) != n)
			continue;
		if (atomic_compare_exchange_strong(&top, &n, n->next)) {
			atomic_store(&hazard[me], NULL);
			return n;
		}
	}
}

static void drop(struct node *n)
{
#ifndef BROKEN
	for (int i = 0; i < THREADS; i++)
		while (atomic_load(&hazard[i]) == n)
			;
#endif
	free(n);
}

static void *worker(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < EACH; i++) {
		struct node *n;

		push(me * EACH + i + 1);
		n = pop(me);
		assert(n);
		atomic_fetch_add(&sum, n->value);
		drop(n);
	}
	return arg;
}

int main(void)
{
	int number[THREADS] = { 0, 1 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, &number[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(sum == 10 && !atomic_load(&top));
	return 0;
}

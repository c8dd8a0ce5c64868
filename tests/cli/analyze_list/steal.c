/* floor 3; bug: race deques */
/*
 * Work stealing: each worker has a deque under a lock of its own, and takes tasks from the other
 * one's end when it has none. A pop that finds
 * nothing only looks, and what follows may seem to rest on it: then up to three candidates remain.
 * BROKEN: a thief reads the end of the other deque before it locks it.
 */
#include <pthread.h>
#include <stdlib.h>

#define TASKS 8
#define WORKERS 2

struct task {
	int weight;
};

static struct deque {
	pthread_mutex_t lock;
	struct task *task[TASKS];
	int top, bottom;
} deques[WORKERS] = { { .lock = PTHREAD_MUTEX_INITIALIZER },
			{ .lock = PTHREAD_MUTEX_INITIALIZER } };

static int sums[WORKERS];

static void push(struct deque *d, struct task *t)
{
	pthread_mutex_lock(&d->lock);
	d->task[d->bottom++] = t;
	pthread_mutex_unlock(&d->lock);
}

static struct task *pop(struct deque *d)
{
	struct task *t = NULL;

	pthread_mutex_lock(&d->lock);
	if (d->bottom > d->top)
		t = d->task[--d->bottom];
	pthread_mutex_unlock(&d->lock);
	return t;
}

static struct task *steal(struct deque *d)
{
	struct task *t = NULL;

#ifdef BROKEN
	if (d->top == d->bottom)	/* bug */
		return NULL;
#endif
	pthread_mutex_lock(&d->lock);
	if (d->top < d->bottom)
		t = d->task[d->top++];
	pthread_mutex_unlock(&d->lock);
	return t;
}

static void *worker(void *arg)
{
	long self = (long)arg;
	struct task *t;

	for (int i = 0; i < TASKS; i++) {
		t = malloc(sizeof(*t));
		t->weight = i + 1;
		push(&deques[self], t);
		if (i % 3 == 2)
			continue;
		t = pop(&deques[self]);
		if (t) {
			sums[self] += t->weight;
			free(t);
		}
	}
	while ((t = pop(&deques[self])) || (t = steal(&deques[1 - self]))) {
		sums[self] += t->weight;
		free(t);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];

	for (long i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return sums[0] + sums[1] != TASKS * (TASKS + 1);
}

/*
 * mozilla_5.c, repaired: the handle is stored before the thread gets its event.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2

struct handle {
	pthread_t id;
	int priority;
};

struct thread {
	pthread_mutex_t lock;
	bool event;		/* an event is waiting */
	struct handle *handle;	/* set after the thread was started */
};

static void thread_post(struct thread *t)
{
	pthread_mutex_lock(&t->lock);
	t->event = true;
	pthread_mutex_unlock(&t->lock);
}

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	bool event;

	pthread_mutex_lock(&t->lock);
	event = t->event;
	pthread_mutex_unlock(&t->lock);
	if (event)
		t->handle->priority++;
	return NULL;
}

int main(void)
{
	static struct thread threads[THREADS] = {
		{ .lock = PTHREAD_MUTEX_INITIALIZER },
		{ .lock = PTHREAD_MUTEX_INITIALIZER },
	};
	struct handle *handle;

	for (int i = 0; i < THREADS; i++) {
		handle = calloc(1, sizeof(*handle));
		if (!handle)
			return 1;
		pthread_create(&handle->id, NULL, thread_main, &threads[i]);
		threads[i].handle = handle;
		thread_post(&threads[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		handle = threads[i].handle;
		pthread_join(handle->id, NULL);
		if (handle->priority > 1)
			return 1;
		free(handle);
	}
	printf("%d threads ended\n", THREADS);
	return 0;
}

/*
 * Apache bug 45605: a wake-up that comes late. A worker that becomes idle raises the
 * count of idlers (a) and, if it was 0, wakes the listener (b). The listener waits if
 * the count is 0, then lowers it: one idler less, to whom it gives a connection.
 *
 * (a) and (b) are not one step. If the listener runs in between, it sees the idler and
 * takes it without waiting; the next time the count is 0 again and it waits (c). Now
 * comes (b), meant for the idler that is gone: the listener takes one that does not
 * exist. The assertion in listener_take() fails; the original's count went below 0.
 *
 * The repaired twin looks at the count again whenever it was woken.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define CONNECTIONS 3

static atomic_int idlers;	/* raised by the worker, lowered by the listener */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some_idle = PTHREAD_COND_INITIALIZER;
static int accepted;

static void worker_set_idle(void)
{
	if (atomic_fetch_add(&idlers, 1) == 0) {		/* (a) */
		pthread_mutex_lock(&lock);
		pthread_cond_signal(&some_idle);		/* (b) */
		pthread_mutex_unlock(&lock);
	}
}

static void listener_take(void)
{
	int before;

	if (atomic_load(&idlers) == 0) {
		pthread_mutex_lock(&lock);
		if (atomic_load(&idlers) == 0)
			pthread_cond_wait(&some_idle, &lock);	/* (c) */
		pthread_mutex_unlock(&lock);
	}
	before = atomic_fetch_sub(&idlers, 1);
	assert(before > 0);
}

static void *worker(void *arg)
{
	(void)arg;
	for (int i = 0; i < CONNECTIONS; i++)
		worker_set_idle();
	return NULL;
}

static void *listener(void *arg)
{
	(void)arg;
	for (int i = 0; i < CONNECTIONS; i++) {
		listener_take();
		accepted++;
	}
	return NULL;
}

int main(void)
{
	pthread_t working, listening;

	pthread_create(&working, NULL, worker, NULL);
	pthread_create(&listening, NULL, listener, NULL);
	pthread_join(working, NULL);
	pthread_join(listening, NULL);
	printf("%d connections accepted\n", accepted);
	return 0;
}

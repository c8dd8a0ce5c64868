/*
 * apache_45605.c, repaired: the listener checks the number again after a wake-up. None is
 * lost: workers increment it before they lock to signal, the listener checks it locked.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define CONNECTIONS 3

static atomic_int idlers;	/* incremented by workers, decremented by the listener */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some_idle = PTHREAD_COND_INITIALIZER;
static int accepted;

static void worker_set_idle(void)
{
	if (atomic_fetch_add(&idlers, 1) == 0) {
		pthread_mutex_lock(&lock);
		pthread_cond_signal(&some_idle);
		pthread_mutex_unlock(&lock);
	}
}

static void listener_take(void)
{
	int before;

	if (atomic_load(&idlers) == 0) {
		pthread_mutex_lock(&lock);
		while (atomic_load(&idlers) == 0)
			pthread_cond_wait(&some_idle, &lock);
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

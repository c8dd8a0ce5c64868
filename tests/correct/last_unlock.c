/*
 * Workers count themselves down under a lock in the block that main frees when none is left.
 * Broken: main reads the count without the lock, so the last unlock may use the freed block.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define WORKERS 2

struct pool {
	pthread_mutex_t lock;
	atomic_int alive;
};

static void *worker(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	p->alive--;
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static int count_alive(struct pool *p)
{
#ifdef BROKEN
	return p->alive;
#else
	int alive;

	pthread_mutex_lock(&p->lock);
	alive = p->alive;
	pthread_mutex_unlock(&p->lock);
	return alive;
#endif
}

int main(void)
{
	struct pool *p = malloc(sizeof(*p));
	pthread_t thread;

	pthread_mutex_init(&p->lock, NULL);
	atomic_init(&p->alive, WORKERS);
	for (int i = 0; i < WORKERS; i++) {
		pthread_create(&thread, NULL, worker, p);
		pthread_detach(thread);
	}
	while (count_alive(p))
		usleep(1);
#ifndef BROKEN
	pthread_mutex_destroy(&p->lock);
#endif
	free(p);
	return 0;
}

/* floor 0; bug: order|race|atomicity|atomicity2 heap|config */
/*
 * A configuration under a read-write lock: readers use it, a writer replaces it and frees the old
 * one. BROKEN: a reader uses it after it has left the lock.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct config {
	int limit, step;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct config *config;
static sem_t begun;	/* posted by each reader when it has found the first one */
static int sums[2];

static struct config *make(int limit)
{
	struct config *c = malloc(sizeof(*c));

	c->limit = limit;
	c->step = 2 * limit;
	return c;
}

static void *reader(void *arg)
{
	int *sum = arg;

	for (int i = 0; i < 4; i++) {
		struct config *c;

		pthread_rwlock_rdlock(&lock);
		c = config;
		if (i == 0)
			sem_post(&begun);
#ifdef BROKEN
		pthread_rwlock_unlock(&lock);
#endif
		*sum += c->step / c->limit;	/* bug */
#ifndef BROKEN
		pthread_rwlock_unlock(&lock);
#endif
	}
	return NULL;
}

static void replace(int limit)
{
	struct config *fresh = make(limit), *old;

	pthread_rwlock_wrlock(&lock);
	old = config;
	config = fresh;
	pthread_rwlock_unlock(&lock);
	free(old);
}

int main(void)
{
	pthread_t readers[2];

	sem_init(&begun, 0, 0);
	config = make(1);
	for (int i = 0; i < 2; i++)
		pthread_create(&readers[i], NULL, reader, &sums[i]);
	for (int i = 0; i < 2; i++)
		sem_wait(&begun);
	for (int i = 2; i < 6; i++)
		replace(i);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	free(config);
	return sums[0] != 8 || sums[1] != 8;
}

/* floor 1; bug: race|order|atomicity2 heap|value */
/*
 * A future: a thread computes a result and fulfils it, others wait for it.
 * If no reader has to wait, the trace does not show that `ready` is waited for: one remains.
 * BROKEN: the result is complete only after the future says so.
 */
#include <pthread.h>
#include <stdlib.h>

struct result {
	int low, high;
};

struct future {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct result *value;
	int ready;
};

static struct future future = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0 };
static int seen[2];

static void fulfil(struct result *value)
{
	pthread_mutex_lock(&future.lock);
	future.value = value;
	future.ready = 1;
	pthread_cond_broadcast(&future.changed);
	pthread_mutex_unlock(&future.lock);
}

static struct result *await(void)
{
	struct result *value;

	pthread_mutex_lock(&future.lock);
	while (!future.ready)
		pthread_cond_wait(&future.changed, &future.lock);
	value = future.value;
	pthread_mutex_unlock(&future.lock);
	return value;
}

static void *reader(void *arg)
{
	struct result *r = await();

	*(int *)arg = r->low + r->high;
	return NULL;
}

int main(void)
{
	struct result *r;
	pthread_t readers[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&readers[i], NULL, reader, &seen[i]);
	r = malloc(sizeof(*r));
	r->low = 3;
#ifdef BROKEN
	fulfil(r);
	r->high = 4;	/* bug */
#else
	r->high = 4;
	fulfil(r);
#endif
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	free(r);
#ifdef BROKEN
	return 0;
#else
	return seen[0] != 7 || seen[1] != 7;
#endif
}

/* floor 0; bug: order|atomicity heap */
/*
 * Two threads share an object; the one that drops the last reference frees it.
 * BROKEN: the reference is dropped in one critical section and looked at in the next.
 */
#include <pthread.h>
#include <stdlib.h>

struct object {
	pthread_mutex_t *lock;
	int references, payload;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sums[2];

static void drop(struct object *o)
{
	pthread_mutex_t *m = o->lock;
	int left;

	pthread_mutex_lock(m);
	left = --o->references;
#ifdef BROKEN
	pthread_mutex_unlock(m);
	pthread_mutex_lock(m);
	left = o->references;	/* bug */
#endif
	pthread_mutex_unlock(m);
	if (left == 0)
		free(o);
}

static void *user(void *arg)
{
	struct object *o = arg;
	static int next;
	int self;

	pthread_mutex_lock(&lock);
	self = next++;
	pthread_mutex_unlock(&lock);
	sums[self] = o->payload;
	drop(o);
	return NULL;
}

int main(void)
{
	struct object *o = malloc(sizeof(*o));
	pthread_t threads[2];

	o->lock = &lock;
	o->references = 3;
	o->payload = 5;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, user, o);
	drop(o);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return sums[0] + sums[1] != 10;
}

/*
 * Destructors of thread-specific data that synchronise: they run in their own thread, before it can
 * be joined, however it ends, and may lock, signal and wait.
 */
#include "want.h"

#define THREADS 4

static pthread_key_t key, late_key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int here, sum, late_sum;

struct value {
	pthread_t owner;
	int n;
};

/* Returns only when all threads are here. */
static void destroy(void *p)
{
	struct value *v = p;

	want(pthread_equal(v->owner, pthread_self()), 1);
	pthread_mutex_lock(&lock);
	sum += v->n;
	if (++here == THREADS)
		pthread_cond_broadcast(&all_here);
	while (here < THREADS)
		pthread_cond_wait(&all_here, &lock);
	pthread_mutex_unlock(&lock);
	want(pthread_setspecific(late_key, v), 0);
}

static void destroy_late(void *p)
{
	pthread_mutex_lock(&lock);
	want(here, THREADS);
	late_sum += ((struct value *)p)->n;
	pthread_mutex_unlock(&lock);
	free(p);
}

static void *works(void *arg)
{
	struct value *v = malloc(sizeof(*v));

	v->owner = pthread_self();
	v->n = (int)(long)arg;
	want(pthread_setspecific(key, v), 0);
	if (v->n == 2)
		pthread_exit(arg);
	if (v->n == 3) {
		want(pthread_cancel(pthread_self()), 0);
		pthread_testcancel();
	}
	return arg;
}

int main(void)
{
	pthread_t t[THREADS];

	want(pthread_key_create(&key, destroy), 0);
	want(pthread_key_create(&late_key, destroy_late), 0);
	for (long i = 0; i < THREADS; i++)
		t[i] = start(works, (void *)(i + 1));
	for (long i = 0; i < THREADS; i++)
		want(finish(t[i]), i + 1 == 3 ? (long)PTHREAD_CANCELED : i + 1);
	want(sum, 10);
	want(late_sum, 10);
	return 0;
}

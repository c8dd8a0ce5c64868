/*
 * One name per thread-local object, but different memory in every thread: thread-local variables,
 * keys with destructors, and stacks. Broken: one object for all threads.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 2

#ifdef BROKEN
#define EVERY_THREAD
#else
#define EVERY_THREAD _Thread_local
#endif

static EVERY_THREAD int depth;
static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void *p)
{
	assert(*(int *)p == 3);
	free(p);
	atomic_fetch_add(&destroyed, 1);
}

static void enter(int *deepest)
{
	int *mine = pthread_getspecific(key);

	depth++;
	(*mine)++;
	if (depth > *deepest)
		*deepest = depth;
	if (*mine < 3)
		enter(deepest);
	depth--;
}

static void *worker(void *arg)
{
	int deepest = 0;

	pthread_setspecific(key, calloc(1, sizeof(int)));
	enter(&deepest);
	assert(depth == 0 && deepest == 3);
	return arg;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_key_create(&key, destroy);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(destroyed == THREADS);
	return 0;
}

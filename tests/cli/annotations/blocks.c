/*
 * Two critical sections, one after the other. With BLOCKS each is marked as meant to be atomic by
 * itself; without, the whole function may be taken for atomic.
 */
#include <assert.h>
#include <pthread.h>

#include "annotate.h"

#ifndef BLOCKS
#undef SNARL_BLOCK_BEGIN
#undef SNARL_BLOCK_END
#define SNARL_BLOCK_BEGIN(name)
#define SNARL_BLOCK_END()
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int level;	/* volatile: otherwise clang knows its values */

static void *worker(void *arg)
{
	int seen;

	SNARL_BLOCK_BEGIN("look");
	pthread_mutex_lock(&lock);
	seen = level;
	pthread_mutex_unlock(&lock);
	SNARL_BLOCK_END();
	assert(seen >= 0);
	SNARL_BLOCK_BEGIN("set");
	pthread_mutex_lock(&lock);
	level = 3;
	pthread_mutex_unlock(&lock);
	SNARL_BLOCK_END();
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	level = 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(level == 3);
	return 0;
}

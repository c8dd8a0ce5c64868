/*
 * A plain counter that two threads write. ANNOTATE_OBJECT(p) may annotate the object;
 * ANNOTATE_BEGIN and ANNOTATE_END the accesses; COUNTER_ATTRIBUTE is an attribute of the function.
 * With WANTED, the program fails if an increment is lost.
 */
#include <assert.h>
#include <pthread.h>

#include "annotate.h"

#ifndef ANNOTATE_OBJECT
#define ANNOTATE_OBJECT(p)
#endif
#ifndef ANNOTATE_BEGIN
#define ANNOTATE_BEGIN
#define ANNOTATE_END
#endif
#ifndef COUNTER_ATTRIBUTE
#define COUNTER_ATTRIBUTE
#endif

static volatile int counter;

__attribute__((noinline)) COUNTER_ATTRIBUTE static void count(void)
{
	ANNOTATE_BEGIN;
	counter = counter + 1;
	ANNOTATE_END;
}

static void *worker(void *arg)
{
	count();
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	ANNOTATE_OBJECT(&counter);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
#ifdef WANTED
	assert(counter == 2);
#else
	assert(counter == 1 || counter == 2);
#endif
	return 0;
}

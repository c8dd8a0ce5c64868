/*
 * A home-made lock in code that is not instrumented. BEFORE_LOCK, AFTER_LOCK, BEFORE_UNLOCK and
 * AFTER_UNLOCK, if given, annotate it.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

#include "annotate.h"

#ifndef BEFORE_LOCK
#define BEFORE_LOCK(p)
#define AFTER_LOCK(p)
#define BEFORE_UNLOCK(p)
#define AFTER_UNLOCK(p)
#endif

static int word, counter;

__attribute__((noinline, no_sanitize("thread"))) static int try(void)
{
	int old = 1;

	__asm__ volatile("xchg %0, %1" : "+r"(old), "+m"(word) : : "memory");
	return !old;
}

__attribute__((noinline, no_sanitize("thread"))) static void release(void)
{
	__asm__ volatile("movl $0, %0" : "=m"(word) : : "memory");
}

static void *worker(void *arg)
{
	BEFORE_LOCK(&word);
	while (!try())
		sched_yield();
	AFTER_LOCK(&word);
	counter++;
	BEFORE_UNLOCK(&word);
	release();
	AFTER_UNLOCK(&word);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(counter == 2);
	return 0;
}

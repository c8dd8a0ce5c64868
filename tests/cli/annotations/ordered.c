/*
 * A hand-over that snarl cannot see: code that is not instrumented reads the flag. ANNOTATE_BEFORE
 * and ANNOTATE_AFTER, if given, annotate it.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

#include "annotate.h"

#ifndef ANNOTATE_BEFORE
#define ANNOTATE_BEFORE(p)
#define ANNOTATE_AFTER(p)
#endif

static int data;
static volatile int flag;	/* plain, because clang shows even atomics of such code */

__attribute__((noinline, no_sanitize("thread"))) static void raise_flag(void)
{
	flag = 1;
}

__attribute__((noinline, no_sanitize("thread"))) static int flag_is_up(void)
{
	return flag;
}

static void *sender(void *arg)
{
	data = 42;
	ANNOTATE_BEFORE((void *)&flag);
	raise_flag();
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sender, NULL);
	while (!flag_is_up())
		sched_yield();
	ANNOTATE_AFTER((void *)&flag);
	assert(data == 42);
	data = 43;
	pthread_join(thread, NULL);
	return 0;
}

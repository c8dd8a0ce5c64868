/*
 * Asynchronous cancellation between any two steps of a loop without cancellation points: the
 * cleanup handler runs, and nothing happens while cancellation is disabled.
 */
#include "want.h"

#include <stdatomic.h>

static atomic_int running, counter, cleaned;
static int first, second;

static void clean(void *arg)
{
	want(first - second == 0 || first - second == 1, 1);
	*(int *)arg = 1;
	cleaned++;
}

static void *runs(void *arg)
{
	int old;

	pthread_cleanup_push(clean, arg);
	want(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old), 0);
	want(old, PTHREAD_CANCEL_DEFERRED);
	running = 1;
	for (;;) {
		first++;
		second++;
		counter++;
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static void *protects(void *arg)
{
	want(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
	want(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
	running = 1;
	for (int i = 0; i < 5; i++)
		counter++;
	*(int *)arg = 2;
	want(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
	while (counter)		/* is cancelled in this loop at the latest */
		;
	return NULL;
}

static void cancel(void *(*routine)(void *), int expected)
{
	int how = 0;
	pthread_t t;

	running = first = second = 0;
	t = start(routine, &how);
	while (!running)
		;
	want(pthread_cancel(t), 0);
	want(finish(t), PTHREAD_CANCELED);
	want(how, expected);
}

int main(void)
{
	cancel(runs, 1);
	cancel(protects, 2);
	cancel(runs, 1);
	want(cleaned, 2);
	return 0;
}

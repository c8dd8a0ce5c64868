/*
 * runs: 4
 * Threads that wait without a scheduling point: the flag is memory that no other thread has touched
 * yet. Others get their turn, sleeps end and signals come.
 */
#include "want.h"

#include <signal.h>
#include <unistd.h>

static volatile int alive, stopped;
static volatile sig_atomic_t signalled;

static void *sets_alive(void *arg)
{
	alive = 1;
	return arg;
}

/* Its state never repeats. */
static void *counts(void *arg)
{
	unsigned long n = 0;

	while (!stopped)
		n++;
	*(unsigned long *)arg = n;
	return arg;
}

static void on_alarm(int number)
{
	(void)number;
	signalled = 1;
}

int main(void)
{
	unsigned long counted = 0;
	pthread_t t;

	t = start(sets_alive, NULL);
	while (!alive)
		;
	finish(t);

	t = start(counts, &counted);
	sleep(1);
	stopped = 1;
	finish(t);

	signal(SIGALRM, on_alarm);
	alarm(1);
	while (!signalled)
		;
	return 0;
}

/*
 * Loops that poll a clock until a time has come, alone and beside other threads: virtual time goes
 * on for them, and does not run ahead of threads that still have something to do.
 */
#include "want.h"

#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

#define MS 1000000l

static atomic_int stop, done;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void poll_until(long ms)
{
	long begin = now();

	while (!atomic_load_explicit(&stop, memory_order_relaxed) && now() - begin < ms * MS)
		;
}

static void *polls(void *arg)
{
	poll_until(500);
	return arg;
}

static void *sleeps(void *arg)
{
	usleep(200000);
	atomic_store(&done, 1);
	return arg;
}

/* Nothing but the clock. */
static void read_only_clock(void)
{
	struct timeval begin, t;

	gettimeofday(&begin, NULL);
	do
		gettimeofday(&t, NULL);
	while (t.tv_sec < begin.tv_sec + 2);
}

int main(void)
{
	pthread_t t[2];
	long begin;

	poll_until(1000);
	read_only_clock();
	t[0] = start(polls, NULL);
	t[1] = start(polls, NULL);
	finish(t[0]);
	finish(t[1]);

	/* The sleeper's time comes long before the limit of the loop. */
	begin = now();
	t[0] = start(sleeps, NULL);
	while (!atomic_load(&done) && now() - begin < 10000 * MS)
		;
	want(atomic_load(&done), 1);
	want(now() - begin < 5000 * MS, 1);
	finish(t[0]);
	return 0;
}

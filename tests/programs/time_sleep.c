/* Sleeps and yields: recorded when they begin. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static void sleeping(void)
{
	struct timespec t = { 0, 1000 }, past = { 1, 0 };

	sleep(0);
	usleep(1);
	nanosleep(&t, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL);
}

static void yielding(void)
{
	sched_yield();
}

int main(void)
{
	struct timespec bad = { 0, -1 };

	sleeping();
	yielding();
	return nanosleep(&bad, NULL) == -1 && errno == EINVAL ? 0 : 9;
}

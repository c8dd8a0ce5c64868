/*
 * runs: 10
 * Virtual time: sleepers wake in the order of their times, whichever thread runs first and however
 * long it computes; clocks agree; an alarm comes in between. (It sleeps for hours: do not run it
 * without control.)
 */
#include "want.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int order, place[3];
static volatile sig_atomic_t rang;

static void *sleeps(void *n)
{
	int i = (int)(long)n;
	struct timespec t = { 1000 * (3 - i), 0 };

	if (i == 0)
		want(nanosleep(&t, NULL), 0);
	else if (i == 1)
		want(usleep(2000u * 1000000u), 0);
	else
		want(sleep(1000), 0);
	place[i] = ++order;
	return NULL;
}

static void on_alarm(int number)
{
	want(number, SIGALRM);
	rang = 1;
}

static long passed(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)(now.tv_sec - from->tv_sec);
}

static void sleepers(void)
{
	struct timespec from, until;
	time_t began = time(NULL);
	pthread_t t[3];

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < 3; i++)
		t[i] = start(sleeps, (void *)i);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(place[2], 1);
	want(place[1], 2);
	want(place[0], 3);
	want(passed(&from), 3000);
	want(time(NULL) - began >= 3000 && time(NULL) - began <= 3001, 1);
	until = from;
	until.tv_sec += 5000;
	want(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), 0);
	want(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &from, NULL), 0);
	want(passed(&from), 5000);
}

static void alarms(void)
{
	struct itimerval i = { .it_value = { 7, 0 } }, left;
	struct sigaction act = { .sa_handler = on_alarm };
	struct timespec from;

	clock_gettime(CLOCK_MONOTONIC, &from);
	sigaction(SIGALRM, &act, NULL);
	want(alarm(100), 0);
	want(alarm(50), 100);
	want(sleep(80), 30);
	want(rang, 1);
	want(passed(&from), 50);
	want(setitimer(ITIMER_REAL, &i, NULL), 0);
	want(getitimer(ITIMER_REAL, &left), 0);
	want(left.it_value.tv_sec <= 7 && left.it_value.tv_sec >= 6, 1);
	want_error(pause(), EINTR);
	want(passed(&from), 57);
	want(alarm(10), 0);
	want(alarm(0), 10);
	want(sleep(20), 0);
	want(passed(&from), 77);
}

int main(void)
{
	struct timespec bad = { 0, -1 };

	sleepers();
	alarms();
	want_error(nanosleep(&bad, NULL), EINVAL);
	want(clock() >= 0, 1);
	puts("ok");
	return 0;
}

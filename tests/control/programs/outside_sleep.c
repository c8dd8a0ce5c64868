/*
 * runs: 10
 * Calls that wait for events sleep in virtual time if they have nothing to wait for: no
 * descriptors, only negative ones, an epoll instance that watches none. (It sleeps for days: do not
 * run it without control.)
 */
#include "want.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#define ROUNDS 100
#define SECONDS 1000

static int epoll;

static void sleep_in_each_way(void)
{
	struct timeval tv = { SECONDS, 0 };
	const struct timespec ts = { SECONDS, 0 };
	struct pollfd none = { .fd = -1, .events = POLLIN };
	struct epoll_event event;
	sigset_t set;

	sigemptyset(&set);
	want(select(0, NULL, NULL, NULL, &tv), 0);
	want(pselect(0, NULL, NULL, NULL, &ts, &set), 0);
	want(poll(NULL, 0, SECONDS * 1000), 0);
	want(poll(&none, 1, SECONDS * 1000), 0);
	want(ppoll(NULL, 0, &ts, &set), 0);
	want(epoll_wait(epoll, &event, 1, SECONDS * 1000), 0);
	want(epoll_pwait(epoll, &event, 1, SECONDS * 1000, &set), 0);
}

static void *sleeper(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		sleep_in_each_way();
	return arg;
}

int main(void)
{
	struct timespec from, until;
	pthread_t t;

	epoll = epoll_create1(0);
	clock_gettime(CLOCK_MONOTONIC, &from);
	t = start(sleeper, NULL);
	sleeper(NULL);
	finish(t);
	clock_gettime(CLOCK_MONOTONIC, &until);
	want((until.tv_sec - from.tv_sec) / (7 * SECONDS), ROUNDS);
	puts("ok");
	return 0;
}

/*
 * runs: 40
 * poll, select and epoll: ready at once, made ready by another thread, time-outs.
 */
#define _GNU_SOURCE	/* ppoll */
#include "want.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

static int a[2], b[2], event;

static void *writes(void *fd)
{
	want(write(*(int *)fd, "x", 1), 1);
	return NULL;
}

static void drain(int fd)
{
	char c;

	want(read(fd, &c, 1), 1);
}

static void with_poll(void)
{
	struct pollfd p[3] = { { .fd = a[0], .events = POLLIN },
			       { .fd = -1, .events = POLLIN },
			       { .fd = b[0], .events = POLLIN } };
	pthread_t t;

	want(poll(p, 3, 0), 0);
	want(poll(p, 3, 2), 0);
	t = start(writes, &b[1]);
	want(poll(p, 3, -1), 1);
	want(p[0].revents, 0);
	want(p[2].revents, POLLIN);
	finish(t);
	drain(b[0]);
	t = start(writes, &a[1]);
	want(ppoll(p, 1, NULL, NULL), 1);
	finish(t);
	want(poll(p, 1, 1000000), 1);
	drain(a[0]);
}

static void with_select(void)
{
	struct timeval limit = { .tv_usec = 2000 };
	pthread_t t;
	fd_set r, w;

	FD_ZERO(&r);
	FD_SET(a[0], &r);
	want(select(a[0] + 1, &r, NULL, NULL, &limit), 0);
	want(FD_ISSET(a[0], &r), 0);
	want(limit.tv_sec == 0 && limit.tv_usec == 0, 1);
	t = start(writes, &a[1]);
	FD_ZERO(&r);
	FD_SET(a[0], &r);
	FD_SET(b[0], &r);
	want(select(64, &r, NULL, NULL, NULL), 1);
	want(FD_ISSET(a[0], &r), 1);
	want(FD_ISSET(b[0], &r), 0);
	finish(t);
	FD_ZERO(&w);
	FD_SET(b[1], &w);
	FD_SET(b[0], &r);
	want(pselect(64, &r, &w, NULL, NULL, NULL), 2);
	drain(a[0]);
}

static void *posts(void *arg)
{
	want(eventfd_write(event, 3), 0);
	return arg;
}

static void with_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.u32 = 7 }, got[4];
	int ep = epoll_create1(0);
	eventfd_t v;
	pthread_t t;

	event = eventfd(0, 0);
	want(epoll_ctl(ep, EPOLL_CTL_ADD, event, &e), 0);
	want(epoll_wait(ep, got, 4, 2), 0);
	t = start(posts, NULL);
	want(epoll_wait(ep, got, 4, -1), 1);
	want(got[0].data.u32, 7);
	want(eventfd_read(event, &v), 0);
	want(v, 3);
	finish(t);
	want(epoll_wait(ep, got, 4, 0), 0);
	close(ep);
	close(event);
}

int main(void)
{
	want(pipe(a), 0);
	want(pipe(b), 0);
	with_poll();
	with_select();
	with_epoll();
	puts("ok");
	return 0;
}

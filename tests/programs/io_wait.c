/* poll, select and epoll on a pipe that has data to read, and on one that has none. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

static int ends[2];

static void check(long wrong)
{
	if (wrong)
		exit(9);
}

static void polling(void)
{
	struct pollfd p = { ends[0], POLLIN, 0 };
	struct timespec none = { 0, 0 };

	check(poll(&p, 1, -1) != 1 || !(p.revents & POLLIN));
	check(ppoll(&p, 1, &none, NULL) != 1);
	p.fd = -1;
	check(poll(&p, 1, 0) != 0);
}

static void selecting(void)
{
	struct timespec none = { 0, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	check(select(ends[0] + 1, &set, NULL, NULL, NULL) != 1 || !FD_ISSET(ends[0], &set));
	check(pselect(ends[0] + 1, &set, NULL, NULL, &none, NULL) != 1);
}

static void epolling(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	check(epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &e) != 0);
	check(epoll_wait(fd, &e, 1, -1) != 1);
	check(epoll_pwait(fd, &e, 1, 0, NULL) != 1);
	check(epoll_wait(-1, &e, 1, 0) != -1);
}

static void event(void)
{
	int fd = eventfd(0, 0);
	eventfd_t value;

	check(eventfd_write(fd, 3) != 0);
	check(eventfd_read(fd, &value) != 0 || value != 3);
}

int main(void)
{
	check(pipe(ends) != 0 || write(ends[1], "x", 1) != 1);
	polling();
	selecting();
	epolling();
	event();
	return 0;
}

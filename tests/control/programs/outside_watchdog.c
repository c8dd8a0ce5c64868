/*
 * runs: 3
 * A watchdog does not overtake a child process that is waited for, by whichever call.
 * Without a child, the timer fires as soon as nobody else can run.
 */
#include "want.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHDOG 1000	/* seconds */

static volatile sig_atomic_t ended, rang;

static void on_child(int number)
{
	(void)number;
	ended = 1;
}

static void on_alarm(int number)
{
	(void)number;
	rang = 1;
}

/* Starts a child that needs some real time: the kernel's sleep is not virtual. */
static pid_t start_child(long ms)
{
	pid_t pid;

	ended = 0;
	pid = fork();
	if (pid == 0) {
		struct timespec t = { 0, ms * 1000000 };

		syscall(SYS_nanosleep, &t, NULL);
		_exit(7);
	}
	return pid;
}

static void end_child(pid_t pid)
{
	int status;

	want(waitpid(pid, &status, 0), pid);
	want(WEXITSTATUS(status), 7);
	want(rang, 0);
}

int main(void)
{
	struct sigaction child = { .sa_handler = on_child, .sa_flags = SA_RESTART };
	struct sigaction ring = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value = { WATCHDOG, 0 } };
	int epoll = epoll_create1(0), pipes[2];
	struct epoll_event event;
	struct pollfd one;
	pid_t pid;

	sigaction(SIGCHLD, &child, NULL);
	sigaction(SIGALRM, &ring, NULL);
	want(alarm(WATCHDOG), 0);
	end_child(start_child(50));

	pid = start_child(50);
	while (!ended)
		want_error(epoll_wait(epoll, &event, 1, -1), EINTR);
	end_child(pid);

	setitimer(ITIMER_REAL, &timer, NULL);
	want(pipe(pipes), 0);
	pid = start_child(700);
	close(pipes[1]);
	one = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	while (poll(&one, 1, 500000) < 0)
		want(errno, EINTR);
	want(one.revents, POLLHUP);
	end_child(pid);

	while (!rang)	/* a late SIGCHLD may end a pause, too */
		want_error(pause(), EINTR);
	puts("ok");
	return 0;
}

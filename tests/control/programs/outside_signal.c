/*
 * runs: 40
 * Signals that a program sends to itself: raise, kill, pthread_kill, sigqueue; blocked and
 * unblocked; waited for; ending a sleep, not ending a restarted read; left by longjmp.
 */
#include "want.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int hits, value;
static atomic_int ready;
static __thread int mine;
static int fds[2];
static sigjmp_buf jump;

static void counts(int number)
{
	(void)number;
	hits++;
	mine++;
}

static void takes(int number, siginfo_t *info, void *context)
{
	(void)context;
	want(info->si_signo, number);
	value = value * 10 + info->si_value.sival_int;
}

static void jumps(int number)
{
	(void)number;
	siglongjmp(jump, 1);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	want(sigaction(number, &act, NULL), 0);
}

static sigset_t only(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	return set;
}

static void at_once(void)
{
	sigset_t set = only(SIGUSR1), pending;

	handle(SIGUSR1, counts, 0);
	want(raise(SIGUSR1), 0);
	want(hits, 1);
	want(kill(getpid(), SIGUSR1), 0);
	want(hits, 2);
	want(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	want(raise(SIGUSR1), 0);
	want(kill(getpid(), SIGUSR1), 0);
	want(hits, 2);
	want(sigpending(&pending), 0);
	want(sigismember(&pending, SIGUSR1), 1);
	want(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
	want(hits >= 3 && hits <= 4, 1);	/* pending for thread and process: 1 or 2 */
	want(pthread_kill(pthread_self(), 0), 0);
	handle(SIGUSR1, SIG_IGN, 0);
	want(raise(SIGUSR1), 0);
	handle(SIGUSR1, counts, SA_RESETHAND);
	want(raise(SIGUSR1), 0);
	struct sigaction now;

	want(sigaction(SIGUSR1, NULL, &now), 0);
	want(now.sa_handler == SIG_DFL, 1);
}

static void queued(void)
{
	struct sigaction act = { .sa_sigaction = takes, .sa_flags = SA_SIGINFO };
	sigset_t set = only(SIGRTMIN + 1);

	want(sigaction(SIGRTMIN + 1, &act, NULL), 0);
	want(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	for (int i = 1; i <= 3; i++)
		want(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i }), 0);
	want(value, 0);
	want(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
	want(value, 123);
}

static void *sleeps(void *arg)
{
	struct timespec t = { 1000000, 0 }, left = { 0 };

	ready = 1;
	while (mine == 0 && nanosleep(&t, &left) == 0)
		;
	want(mine, 1);
	return arg;
}

static void *reads(void *arg)
{
	char c = 0;

	ready = 1;
	want(read(fds[0], &c, 1), 1);
	want(c, 'r');
	return arg;
}

static void to_a_thread(void)
{
	pthread_t t;

	handle(SIGUSR2, counts, 0);
	ready = hits = 0;
	t = start(sleeps, NULL);
	while (!ready)
		sched_yield();
	want(pthread_kill(t, SIGUSR2), 0);
	finish(t);
	want(hits, 1);
	handle(SIGUSR2, counts, SA_RESTART);
	want(pipe(fds), 0);
	ready = 0;
	t = start(reads, NULL);
	while (!ready)
		sched_yield();
	want(pthread_kill(t, SIGUSR2), 0);
	while (hits < 2)
		sched_yield();
	want(write(fds[1], "r", 1), 1);
	finish(t);
}

static void *waits(void *arg)
{
	sigset_t set = only(SIGTERM);
	siginfo_t info;
	int number = 0;

	want(sigwait(&set, &number), 0);
	want(number, SIGTERM);
	want(sigwaitinfo(&set, &info), SIGTERM);
	return arg;
}

static void waited_for(void)
{
	struct timespec limit = { .tv_nsec = 2000000 };
	sigset_t set = only(SIGTERM);
	pthread_t t;

	want(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	want_error(sigtimedwait(&set, NULL, &limit), EAGAIN);
	t = start(waits, NULL);
	want(kill(getpid(), SIGTERM), 0);
	want(pthread_kill(t, SIGTERM), 0);
	/* Two pending signals may merge only if both are the process's. */
	finish(t);
}

static void left_by_jump(void)
{
	sigset_t set;

	handle(SIGUSR1, jumps, 0);
	for (volatile int i = 0; i < 3; i++)
		if (sigsetjmp(jump, 1) == 0) {
			raise(SIGUSR1);
			want(0, 1);
		}
	want(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
	want(sigismember(&set, SIGUSR1), 0);
}

static void suspended(void)
{
	sigset_t set = only(SIGUSR2), open;

	mine = 0;
	want(pthread_sigmask(SIG_BLOCK, &set, &open), 0);
	want(raise(SIGUSR2), 0);
	want(mine, 0);
	want_error(sigsuspend(&open), EINTR);
	want(mine, 1);
	want(pthread_sigmask(SIG_SETMASK, &open, NULL), 0);
}

int main(void)
{
	at_once();
	queued();
	to_a_thread();
	waited_for();
	left_by_jump();
	suspended();
	puts("ok");
	return 0;
}

/* Handlers by each call, nested, one-shot, with and without information. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int seen, inner_done, value;

static void check(long wrong)
{
	if (wrong)
		exit(9);
}

static void plain(int number)
{
	seen = number;
	errno = 77;
}

static void informed(int number, siginfo_t *info, void *context)
{
	seen = number;
	value = info->si_code == SI_QUEUE && context ? info->si_value.sival_int : -1;
}

static void inner(int number)
{
	(void)number;
	inner_done = 1;
}

static void outer(int number)
{
	raise(SIGUSR2);
	check(!inner_done);	/* the inner handler ran inside the outer one */
	seen = number;
}

static void by_sigaction(void)
{
	struct sigaction act = { .sa_sigaction = informed, .sa_flags = SA_SIGINFO }, old;

	check(sigaction(SIGUSR1, &act, &old) != 0 || old.sa_handler != SIG_DFL);
	check(sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 42 }) != 0);
	check(seen != SIGUSR1 || value != 42);
	act.sa_handler = plain;
	act.sa_flags = SA_RESETHAND;
	check(sigaction(SIGUSR1, &act, &old) != 0);
	check(old.sa_sigaction != informed || !(old.sa_flags & SA_SIGINFO));
	seen = 0;
	raise(SIGUSR1);
	check(seen != SIGUSR1 || errno != 77);
	check(sigaction(SIGUSR1, NULL, &old) != 0 || old.sa_handler != SIG_DFL);
	check(sigaction(SIGKILL, &act, NULL) != -1 || sigaction(99, &act, NULL) != -1);
}

static void by_signal(void)
{
	struct sigaction old;

	check(signal(SIGUSR1, outer) != SIG_DFL);
	check(signal(SIGUSR2, inner) != SIG_DFL);
	seen = 0;
	raise(SIGUSR1);
	check(seen != SIGUSR1);
	check(sigaction(SIGUSR1, NULL, &old) != 0 || old.sa_handler != outer);
	check(old.sa_flags & SA_SIGINFO || !(old.sa_flags & SA_RESTART));
	check(!sigismember(&old.sa_mask, SIGUSR1));
	check(siginterrupt(SIGUSR1, 1) != 0 || signal(SIGUSR1, SIG_IGN) != outer);
	raise(SIGUSR1);
	check(signal(SIGUSR1, plain) != SIG_IGN);
	check(sigaction(SIGUSR1, NULL, &old) != 0 || old.sa_flags & SA_RESTART);
	check(signal(0, plain) != SIG_ERR);
}

static void by_others(void)
{
	seen = 0;
	check(sysv_signal(SIGUSR2, plain) != inner);
	raise(SIGUSR2);
	check(seen != SIGUSR2 || signal(SIGUSR2, SIG_DFL) != SIG_DFL);
}

int main(void)
{
	by_sigaction();
	by_signal();
	by_others();
	return 0;
}

#include "cmd/run_program.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/run_options.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"

static const int forwarded[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2 };

/*
 * Reaps all children that have ended. Returns true if `pid` was one of them, with its status in
 * *result. *orphans: other children still run.
 */
static bool reap(pid_t pid, int *result, bool *orphans)
{
	bool ended = false;
	int status;
	pid_t got;

	while ((got = waitpid(-1, &status, WNOHANG)) > 0)
		if (got == pid) {
			*result = status;
			ended = true;
		}
	*orphans = got == 0;
	return ended;
}

/*
 * The kernel sends signals of the terminal to the process group: the program has received it, too.
 */
static bool from_terminal(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL;
}

/* Waits until the program has ended, and passes signals on to it. */
static void wait_for_program(struct run *run, pid_t pid, const sigset_t *set)
{
	siginfo_t info;

	while (!reap(pid, &run->status, &run->orphans)) {
		int signal = sigwaitinfo(set, &info);

		if (signal > 0 && signal != SIGCHLD && !from_terminal(&info))
			kill(pid, signal);
	}
}

/*
 * Waits until all processes that outlive the program have ended, run->wait has passed, or a signal
 * comes.
 */
static void wait_for_orphans(struct run *run, const sigset_t *set)
{
	double end = clock_seconds() + run->wait;
	int unused, signal = SIGCHLD;

	while (run->orphans && signal == SIGCHLD) {
		double rest = end - clock_seconds();
		struct timespec time = {
			.tv_sec = (time_t)rest,
			.tv_nsec = (long)((rest - (double)(time_t)rest) * 1e9),
		};

		if (rest <= 0)
			break;
		signal = sigtimedwait(set, NULL, &time);
		if (signal < 0 && errno == EINTR)
			signal = SIGCHLD;
		reap(-1, &unused, &run->orphans);
	}
}

int run_program(struct run *run, struct err *err)
{
	struct proc_start start = {
		.argv = run->argv,
		.name = SNARL_OPTIONS_ENV,
		.value = run->options,
		.in = -1,
		.out = run->to_stderr ? STDERR_FILENO : -1,
		.error = -1,
	};
	sigset_t set, old;
	double begin;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	/* sigwaitinfo() takes blocked signals, without handlers and their races. */
	sigprocmask(SIG_BLOCK, &set, &old);
	start.mask = &old;
	/*
	 * The kernel makes processes that outlive the program our children, so that we notice them.
	 */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	begin = clock_seconds();
	pid = proc_spawn(&start, NULL, err);
	if (pid > 0) {
		wait_for_program(run, pid, &set);
		run->seconds = clock_seconds() - begin;
		wait_for_orphans(run, &set);
	}
	/* The signals stay blocked, so that the trace is finished before one of them ends snarl. */
	return pid > 0 ? 0 : -1;
}

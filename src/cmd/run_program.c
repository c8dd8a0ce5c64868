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

static const int passed_on[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2 };

/* Everything that has ended; true once `pid` has. `left`: somebody has not. */
static bool reap(pid_t pid, int *result, bool *left)
{
	bool ended = false;
	int status;
	pid_t got;

	while ((got = waitpid(-1, &status, WNOHANG)) > 0)
		if (got == pid) {
			*result = status;
			ended = true;
		}
	*left = got == 0;
	return ended;
}

/* A key pressed on the terminal was sent to the whole group: the program has it already. */
static bool from_terminal(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL;
}

/* Until the program has ended. */
static void attend(struct run *run, pid_t pid, const sigset_t *set)
{
	siginfo_t info;

	while (!reap(pid, &run->status, &run->left)) {
		int signal = sigwaitinfo(set, &info);

		if (signal > 0 && signal != SIGCHLD && !from_terminal(&info))
			kill(pid, signal);
	}
}

/* Until what it left behind has ended too, or we lose patience, or somebody else does. */
static void linger(struct run *run, const sigset_t *set)
{
	double end = clock_seconds() + run->wait;
	int unused, signal = SIGCHLD;

	while (run->left && signal == SIGCHLD) {
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
		reap(-1, &unused, &run->left);
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
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&set, passed_on[i]);
	/* Blocked, they are waited for: no handlers, no races. */
	sigprocmask(SIG_BLOCK, &set, &old);
	start.mask = &old;
	/* Orphans of the program come to us, so that we know of them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	begin = clock_seconds();
	pid = proc_spawn(&start, NULL, err);
	if (pid > 0) {
		attend(run, pid, &set);
		run->seconds = clock_seconds() - begin;
		linger(run, &set);
	}
	/* Still blocked: what was recorded is saved before anything ends us. */
	return pid > 0 ? 0 : -1;
}

/*
 * Starts a process of the target, reproducibly: without address randomisation, with default signal
 * handlers, and with an environment of constant size. exec() puts the environment on the stack, so
 * its size shifts all stack addresses. SNARL_PAD fills the varying part up to OPTIONS_SIZE.
 */
#include "explore/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "abi/run_options.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/proc.h"

#define OPTIONS_SIZE 2048u	/* SNARL_OPTIONS and SNARL_PAD together */

/* Threads of OpenMP wait in the kernel at once: spinning is no use while one thread runs. */
static const char *const openmp_waits[] = {
	"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0",
};

static char **environment(const struct target *t, const struct target_start *s)
{
	char **env = xcalloc(t->env_count + ARRAY_SIZE(openmp_waits) + 3, sizeof(*env));
	size_t n = t->env_count;
	struct buf options = { 0 };
	size_t pad;

	buf_addf(&options, "%s=mode=control", SNARL_OPTIONS_ENV);
	buf_add_option(&options, "control", s->control);
	if (s->server >= 0)
		buf_addf(&options, ":server=%d", TARGET_SERVER_FD);
	if (s->backend)
		buf_addf(&options, ":backend=%s", s->backend);
	if (s->extra && *s->extra)
		buf_addf(&options, ":%s", s->extra);
	pad = options.size < OPTIONS_SIZE ? OPTIONS_SIZE - options.size : 0;
	memcpy(env, t->env, t->env_count * sizeof(*env));
	for (size_t i = 0; i < ARRAY_SIZE(openmp_waits); i++)
		env[n++] = xstrdup(openmp_waits[i]);
	env[n++] = xstrdup(buf_string(&options));
	env[n] = xasprintf("SNARL_PAD=%0*d", (int)pad + 1, 0);
	buf_free(&options);
	return env;
}

/* Duplicates a descriptor to a fixed number, without close-on-exec. */
static bool duplicate_to(int fd, int number)
{
	if (fd == number)
		return fcntl(fd, F_SETFD, 0) == 0;
	return dup2(fd, number) >= 0;
}

/* Raises the limit of open files above TARGET_SERVER_FD; never lowers it. */
static bool raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return false;
	if (limit.rlim_cur > TARGET_SERVER_FD)
		return true;
	limit.rlim_cur = TARGET_SERVER_FD + 1;
	if (limit.rlim_max < limit.rlim_cur)
		limit.rlim_max = limit.rlim_cur;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int target_exec(const struct target *t, const struct target_start *s)
{
	const struct rlimit none = { 0, 0 };
	int kind = personality(0xffffffff);
	sigset_t empty;

	sigemptyset(&empty);
	if (!raise_limit() || chdir(t->directory) < 0 ||
	    (s->input >= 0 && dup2(s->input, STDIN_FILENO) < 0) ||
	    (s->output >= 0 && dup2(s->output, STDOUT_FILENO) < 0) ||
	    (s->error >= 0 && dup2(s->error, STDERR_FILENO) < 0) ||
	    (s->server >= 0 && !duplicate_to(s->server, TARGET_SERVER_FD)))
		return errno;
	if (kind == -1 || personality((unsigned long)kind | ADDR_NO_RANDOMIZE) < 0)
		return errno;
	setrlimit(RLIMIT_CORE, &none);	/* a hunt may crash thousands of times: no core dumps */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	execve(t->program, t->argv, environment(t, s));
	return errno;
}

pid_t target_spawn(const struct target *t, const struct target_start *s, struct err *err)
{
	int report[2], reason = 0;
	pid_t pid, self = getpid();
	ssize_t got;

	if (pipe2(report, O_CLOEXEC) < 0)
		return err_set(err, "cannot start %s: %s", t->program, strerror(errno));
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		/* If snarl is killed by SIGKILL it cannot end the program: let the kernel do it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(127);
		reason = target_exec(t, s);
		if (write(report[1], &reason, sizeof(reason)) < 0)
			_exit(126);
		_exit(127);
	}
	reason = errno;
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return err_set(err, "cannot start %s: %s", t->program, strerror(reason));
	}
	setpgid(pid, pid);
	do
		got = read(report[0], &reason, sizeof(reason));
	while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got != (ssize_t)sizeof(reason))
		return pid;
	proc_wait(pid);
	return err_set(err, "cannot start %s in %s: %s", t->program, t->directory,
		       strerror(reason));
}

#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define PAUSE_MOST 20000u	/* microseconds between two looks at a process that is waited for */

/* Executes the program in the forked child. If that fails, writes errno to the pipe `report`. */
static void exec_program(const struct proc_start *start, int report)
{
	int failure;

	signal(SIGXFSZ, SIG_DFL);	/* the tool ignores this signal, the program must not */
	if (start->own_group) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	if (start->name && start->value)
		setenv(start->name, start->value, 1);
	else if (start->name)
		unsetenv(start->name);
	if ((start->error < 0 || dup2(start->error, STDERR_FILENO) >= 0) &&
	    (start->out < 0 || dup2(start->out, STDOUT_FILENO) >= 0) &&
	    (start->in < 0 || dup2(start->in, STDIN_FILENO) >= 0) &&
	    (!start->mask || sigprocmask(SIG_SETMASK, start->mask, NULL) == 0))
		execvp(start->argv[0], start->argv);
	failure = errno;
	while (write(report, &failure, sizeof(failure)) < 0 && errno == EINTR)
		;
	_exit(127);
}

pid_t proc_spawn(const struct proc_start *start, int *failure, struct err *err)
{
	int report[2], reason = 0;
	ssize_t got;
	pid_t pid;

	if (failure)
		*failure = 0;
	if (pipe2(report, O_CLOEXEC) < 0)
		return err_set(err, "cannot start %s: %s", start->argv[0], strerror(errno));
	pid = fork();
	if (pid == 0)
		exec_program(start, report[1]);
	close(report[1]);
	if (pid < 0) {
		err_set(err, "cannot start %s: %s", start->argv[0], strerror(errno));
		close(report[0]);
		return -1;
	}
	/* A successful exec closes the other end, so that the read returns 0 bytes. */
	do
		got = read(report[0], &reason, sizeof(reason));
	while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got != (ssize_t)sizeof(reason))
		return pid;	/* a group of its own exists by now: exec came after it */
	proc_wait(pid);
	if (failure)
		*failure = reason;
	return err_set(err, "cannot start %s: %s", start->argv[0], strerror(reason));
}

int proc_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

int proc_wait_group(pid_t pid, double seconds, const struct deadline *d)
{
	double until = clock_seconds() + seconds;
	unsigned pause = 100;		/* microseconds: short at first, since most programs are */
	int status;
	pid_t got;

	while ((got = waitpid(pid, &status, WNOHANG)) == 0) {
		if ((seconds > 0 && clock_seconds() >= until) || deadline_over(d)) {
			kill(-pid, SIGKILL);
			proc_wait(pid);
			return -1;
		}
		usleep(pause);
		pause = pause < PAUSE_MOST ? 2 * pause : PAUSE_MOST;
	}
	return got < 0 ? -1 : status;
}

int proc_code(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void read_all(int fd, struct buf *out)
{
	for (;;) {
		ssize_t got = read(fd, buf_reserve(out, 4096), 4096);

		if (got > 0)
			out->size += (size_t)got;
		else if (got == 0 || errno != EINTR)
			return;
	}
}

int proc_run(char *const argv[], struct buf *out, bool both, struct err *err)
{
	int output[2], status;
	struct proc_start start = { .argv = argv };
	pid_t pid;

	if (pipe2(output, O_CLOEXEC) < 0)
		return err_set(err, "cannot start %s: %s", argv[0], strerror(errno));
	start.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	start.out = output[1];
	start.error = both ? output[1] : -1;
	pid = proc_spawn(&start, NULL, err);
	close(output[1]);
	if (start.in >= 0)
		close(start.in);
	if (pid >= 0)
		read_all(output[0], out);
	close(output[0]);
	if (pid < 0)
		return -1;
	status = proc_wait(pid);
	return status < 0 ? -1 : proc_code(status);
}

char *proc_own_folder(void)
{
	char path[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
	char *slash;

	if (size <= 0 || (size_t)size >= sizeof(path))
		return NULL;
	path[size] = '\0';
	slash = strrchr(path, '/');
	return slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int proc_remove_tree(const char *path)
{
	return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

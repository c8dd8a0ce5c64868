/*
 * Runs a program again and again, several runs at a time, and prints how many failed.
 *
 *   repeat RUNS AT_ONCE LIMIT_MS WANT OPTIONS PROGRAM [ARGUMENT…]
 *
 * SNARL_OPTIONS of run n is OPTIONS:seed=n. A run fails if its exit status is not 0, if it takes
 * longer than the limit (it is killed then), or if its output differs from the file WANT ("-": any
 * output).
 *
 * Runs that hang sleep until the limit. A run older than HANGS_MS therefore makes room for another,
 * so that the same number of runs compete for the processors.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 256
#define HANGS_MS 100
#define OUTPUT 65536

struct run {
	pid_t pid;		/* 0: none */
	int pidfd, out;
	long began;
};

static char want[OUTPUT], got[OUTPUT];
static ssize_t want_size = -1;

static void die(const char *what)
{
	perror(what);
	exit(3);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void start(struct run *r, int number, const char *options, char **argv)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s:seed=%d", options, number);
	setenv("SNARL_OPTIONS", text, 1);
	r->out = want_size < 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC)
			       : (int)syscall(SYS_memfd_create, "out", 1u /* close on exec */);
	r->pid = fork();
	if (r->pid < 0 || r->out < 0)
		die("repeat");
	if (r->pid == 0) {
		int in = open("/dev/null", O_RDONLY);

		setpgid(0, 0);
		dup2(in, 0);
		dup2(r->out, 1);
		dup2(r->out, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	if (r->pidfd < 0)
		die("pidfd_open");
	r->began = now_ms();
}

static bool printed_it(int fd)
{
	ssize_t size = pread(fd, got, sizeof(got), 0);

	return size == want_size && memcmp(got, want, (size_t)size) == 0;
}

/* Ends a run; did it fail? */
static bool end(struct run *r, bool late)
{
	bool failed;
	int status;

	if (late)
		kill(r->pid, SIGKILL);
	kill(-r->pid, SIGKILL);		/* the whole process group */
	if (waitpid(r->pid, &status, 0) < 0)
		die("waitpid");
	failed = late || !WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
		 (want_size >= 0 && !printed_it(r->out));
	close(r->pidfd);
	close(r->out);
	r->pid = 0;
	return failed;
}

/* Starts runs while there is room; returns how long to wait for room or for a run that is late. */
static long fill(struct run *all, int at_once, long limit, int runs, int *started,
		 const char *options, char **argv)
{
	long now = now_ms(), wait = limit;
	int recent = 0;

	for (int i = 0; i < MOST; i++) {
		long age = now - all[i].began, next = age < HANGS_MS ? HANGS_MS : limit;

		if (!all[i].pid)
			continue;
		recent += age < HANGS_MS;
		if (next - age < wait)
			wait = next - age;
	}
	for (int i = 0; i < MOST && recent < at_once && *started < runs; i++)
		if (!all[i].pid) {
			start(&all[i], ++*started, options, argv);
			recent++;
			if (HANGS_MS < wait)
				wait = HANGS_MS;
		}
	return wait < 0 ? 0 : wait + 1;
}

int main(int argc, char **argv)
{
	int runs = argc > 6 ? atoi(argv[1]) : 0, at_once = argc > 6 ? atoi(argv[2]) : 0;
	int started = 0, ended = 0, failed = 0;
	long limit = argc > 6 ? atol(argv[3]) : 0;
	static struct run all[MOST];

	if (runs < 0 || at_once < 1 || at_once > MOST || limit < 1) {
		fprintf(stderr,
			"usage: repeat RUNS AT_ONCE LIMIT_MS WANT OPTIONS PROGRAM [ARGUMENT…]\n");
		return 2;
	}
	if (strcmp(argv[4], "-") != 0) {
		int fd = open(argv[4], O_RDONLY | O_CLOEXEC);

		want_size = fd < 0 ? -1 : read(fd, want, sizeof(want));
		if (want_size < 0)
			die(argv[4]);
		close(fd);
	}
	while (ended < runs) {
		long wait = fill(all, at_once, limit, runs, &started, argv[5], argv + 6), now;
		struct pollfd fds[MOST];

		for (int i = 0; i < MOST; i++)
			fds[i] = (struct pollfd){ .fd = all[i].pid ? all[i].pidfd : -1,
						  .events = POLLIN };
		poll(fds, MOST, (int)wait);
		now = now_ms();
		for (int i = 0; i < MOST; i++) {
			bool done = fds[i].fd >= 0 && fds[i].revents,
			     late = fds[i].fd >= 0 && now - all[i].began > limit;

			if (!done && !late)
				continue;
			failed += end(&all[i], late && !done);
			ended++;
		}
	}
	printf("%d\n", failed);
	return 0;
}

/*
 * Runs the unit tests of one room: ROOM_tests [--list | NAME…]
 *
 * Each test file runs in a process of its own: one that crashes or runs too long fails alone.
 * Without a NAME all test files of the room run; --list prints their names.
 *
 * Exit status: 0 if all passed, 2 for bad arguments; otherwise that of the last test file that
 * failed, in the way of timeout(1): 124 after the time limit, 128 + N after signal N.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_SECONDS 120 /* the longest test takes a few seconds on an idle machine */
#define STATUS_TIMED_OUT 124

/* Holds the name of the running test. A test may run its own program again, as a target with
 * arguments. */
#define UNIT_TEST_ENV "UNIT_TEST"

/* TEST_TABLE is a file of the build with TEST(NAME) for each test file of the room. */
#define TEST(name) int name##_main(int argc, char **argv);
#include TEST_TABLE
#undef TEST

static const struct test {
	const char *name;
	int (*main)(int argc, char **argv);
} tests[] = {
#define TEST(name) { #name, name##_main },
#include TEST_TABLE
#undef TEST
};

#define TEST_COUNT (sizeof(tests) / sizeof(tests[0]))

static const struct test *find(const char *name)
{
	for (size_t i = 0; i < TEST_COUNT; i++)
		if (strcmp(tests[i].name, name) == 0)
			return &tests[i];
	return NULL;
}

static void run_child(const struct test *test, char *program, pid_t parent)
{
	char *argv[] = { program, NULL };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setenv(UNIT_TEST_ENV, test->name, 1);
	exit(test->main(1, argv));
}

/* Waits for the end of the child. After the time limit it kills the child and all processes of its
 * group. */
static int wait_child(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), ready = -1, status;
	struct pollfd end = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		perror("pidfd_open");
	else
		ready = poll(&end, 1, LIMIT_SECONDS * 1000);
	if (ready <= 0)
		kill(-pid, SIGKILL);
	if (fd >= 0)
		close(fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (ready <= 0)
		return STATUS_TIMED_OUT;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(const struct test *test, char *program)
{
	pid_t parent = getpid(), pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run_child(test, program, parent);
	status = pid < 0 ? 1 : wait_child(pid);
	if (status == 0)
		printf("ok %s\n", test->name);
	else if (status == STATUS_TIMED_OUT)
		printf("FAIL %s (timed out)\n", test->name);
	else if (status > 128)
		printf("FAIL %s (signal %d)\n", test->name, status - 128);
	else
		printf("FAIL %s (exit %d)\n", test->name, status);
	return status;
}

int main(int argc, char **argv)
{
	const char *self = getenv(UNIT_TEST_ENV);
	int result = 0, status;

	if (self && find(self))
		return find(self)->main(argc, argv);
	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < TEST_COUNT; i++)
			puts(tests[i].name);
		return 0;
	}
	for (int i = 1; i < argc; i++) {
		if (!find(argv[i])) {
			fprintf(stderr, "%s: no test '%s'; --list prints their names\n", argv[0],
				argv[i]);
			return 2;
		}
	}
	for (size_t i = 0; i < (argc > 1 ? (size_t)argc - 1 : TEST_COUNT); i++) {
		status = run(argc > 1 ? find(argv[i + 1]) : &tests[i], argv[0]);
		if (status)
			result = status;
	}
	return result;
}

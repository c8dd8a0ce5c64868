/* vfork: the child execs or exits on the parent's stack, and leaves no events. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int touched;

static void check(long wrong)
{
	if (wrong)
		_exit(9);
}

__attribute__((noinline)) static void finished(pid_t pid, int expected)
{
	int status;

	check(waitpid(pid, &status, 0) != pid);
	check(!WIFEXITED(status) || WEXITSTATUS(status) != expected);
}

__attribute__((noinline)) static void deep(void)
{
	touched = 1;
	sched_yield();
	execl("/nowhere/at/all", "all", (char *)NULL);
	_exit(7);
}

__attribute__((noinline)) static void exiting(void)
{
	pid_t pid = vfork();

	check(pid < 0);
	if (pid == 0)
		deep();
	check(!touched);	/* the child ran in our memory */
	sched_yield();
	finished(pid, 7);
}

__attribute__((noinline)) static void executing(void)
{
	pid_t pid = vfork();

	check(pid < 0);
	if (pid == 0) {
		execlp("sh", "sh", "-c", "exit 8", (char *)NULL);
		_exit(9);
	}
	finished(pid, 8);
}

int main(void)
{
	exiting();
	executing();
	sched_yield();
	return 0;
}

#!/bin/sh
# A watchdog does not overtake a child process that its parent asks about again and again, sleeping
# or spinning in between. How often it asks depends on real time, so such runs need not replay.
. "$SNARL_ROOT/tests/lib.sh"

cat >asks.c <<'X'
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status;
	pid_t pid;
	(void)argv;
	alarm(1000);
	pid = fork();
	if (!pid) {
		struct timespec t = { 0, 300000000 };
		syscall(SYS_nanosleep, &t, 0);
		_exit(7);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (argc > 1)
			usleep(20000);
		else
			sched_yield();
	return WEXITSTATUS(status) != 7;
}
X
for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -D_GNU_SOURCE -g asks.c -o asks
	for backend in user kernel; do
		snarl test -q --runs 1 --timeout 60 --backend $backend -o out -- ./asks ||
			fail "$cc, $backend, spinning: exit $?"
		snarl test -q --runs 1 --timeout 60 --backend $backend -o out -- ./asks sleeping ||
			fail "$cc, $backend, sleeping: exit $?"
	done
done

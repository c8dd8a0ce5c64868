/*
 * Starts a program N times, one after the other, as a loop without snarl would:
 *
 *   spawn N PROGRAM ARGS…
 *
 * Exit: 0; 1 if one of the runs failed.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	int status = 0, failed = 0;

	if (n < 1) {
		fprintf(stderr, "usage: spawn N PROGRAM ARGS…\n");
		return 2;
	}
	for (long i = 0; i < n; i++) {
		pid_t pid;

		if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0 ||
		    waitpid(pid, &status, 0) < 0) {
			perror(argv[2]);
			return 3;
		}
		failed |= status != 0;
	}
	return failed;
}

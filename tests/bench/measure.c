/*
 * Runs a command and appends one line with its cost to a file:
 *
 *   measure FILE COMMAND ARGS…
 *   WALL_SECONDS CPU_SECONDS MAX_RSS_KB
 *
 * CPU time is user and system time of the command and all children it waited for. The exit status
 * is the command's, or 128 + N if signal N ended it.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
	struct rusage used;
	double start, wall;
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND ARGS…\n");
		return 2;
	}
	start = now();
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) < 0) {
		perror("measure");
		return 3;
	}
	wall = now() - start;
	out = fopen(argv[1], "a");
	if (!out || fprintf(out, "%.4f %.4f %ld\n", wall,
			    seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss) < 0 ||
	    fclose(out) != 0) {
		perror(argv[1]);
		return 3;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * fails: exit
 * A test in a forked child loses an update; the test runner reports it by its exit status.
 */
#include "want.h"

#include <sys/wait.h>
#include <unistd.h>

static int count;

static void *add(void *arg)
{
	for (int i = 0; i < 3; i++)
		count++;
	return arg;
}

static int test(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		t[i] = start(add, NULL);
	for (int i = 0; i < 2; i++)
		finish(t[i]);
	return count != 6;
}

int main(void)
{
	int status = 0, failed = 0;

	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(test());
		want(waitpid(pid, &status, 0), pid);
		failed += status != 0;
	}
	return failed;
}

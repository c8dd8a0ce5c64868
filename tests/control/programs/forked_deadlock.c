/*
 * fails: deadlock
 * A test in a forked child locks two mutexes in both orders. Its runner would wait for ever.
 */
#include "want.h"

#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *backwards(void *arg)
{
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	return arg;
}

static void test(void)
{
	pthread_t t = start(backwards, NULL);

	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	finish(t);
}

int main(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		test();
		_exit(0);
	}
	want(waitpid(pid, &status, 0), pid);
	return status != 0;
}

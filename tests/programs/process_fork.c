/* fork in its forms; the children are checked by their exit status. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int in_child;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void check(long wrong)
{
	if (wrong)
		_exit(9);
}

/* Runs in the child before fork() returns: the runtime must belong to the child by then. */
static void forked(void)
{
	pthread_mutex_lock(&m);
	in_child = 1;
	pthread_mutex_unlock(&m);
}

static void finished(pid_t pid, int expected)
{
	int status;

	check(waitpid(pid, &status, 0) != pid);
	check(!WIFEXITED(status) || WEXITSTATUS(status) != expected);
}

static void *add(void *p)
{
	pthread_mutex_lock(&m);
	++*(int *)p;
	pthread_mutex_unlock(&m);
	return NULL;
}

static void plain(void)
{
	pid_t pid = fork();
	pthread_t thread;
	int n = 2;

	check(pid < 0);
	if (pid == 0) {
		check(!in_child);
		check(pthread_create(&thread, NULL, add, &n) != 0);
		pthread_join(thread, NULL);
		exit(n);
	}
	finished(pid, 3);
}

static void bare(void)
{
	pid_t pid = _Fork();

	check(pid < 0);
	if (pid == 0)
		_exit(in_child ? 9 : 4);
	finished(pid, 4);
}

/* A child of a child. */
static void nested(void)
{
	pid_t pid = fork();

	check(pid < 0);
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			_exit(5);
		finished(pid, 5);
		_exit(6);
	}
	finished(pid, 6);
}

static void spawned(void)
{
	char *argv[] = { "true", NULL };
	pid_t pid;

	check(posix_spawnp(&pid, "true", NULL, NULL, argv, environ) != 0);
	finished(pid, 0);
	check(posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, argv, environ) == 0);
}

int main(void)
{
	pthread_atfork(NULL, NULL, forked);
	plain();
	bare();
	nested();
	spawned();
	return 0;
}

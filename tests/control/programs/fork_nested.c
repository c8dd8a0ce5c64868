/*
 * fork() in a program with threads; the child starts threads and forks again, and so does its
 * child. Each process has only the thread that forked; atfork handlers keep the lock usable; exit
 * statuses are passed up.
 */
#include "want.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, depth;
static atomic_int leave;

static void take(void)
{
	want(pthread_mutex_lock(&lock), 0);
}

static void give(void)
{
	want(pthread_mutex_unlock(&lock), 0);
}

static void *counts(void *arg)
{
	for (int i = 0; i < 3; i++) {
		take();
		counter++;
		give();
	}
	return arg;
}

static void *busy(void *arg)
{
	while (!leave) {
		take();
		counter += 0;
		give();
		usleep(1);
	}
	return arg;
}

static void *forks(void *arg);

static int work(void)
{
	pthread_t t[2], other;

	counter = 0;
	leave = 0;
	other = start(busy, NULL);
	for (int i = 0; i < 2; i++)
		t[i] = start(counts, NULL);
	if (depth < 2)
		finish(start(forks, NULL));
	for (int i = 0; i < 2; i++)
		finish(t[i]);
	leave = 1;
	finish(other);
	want(counter, 6);
	return 10 + depth;
}

static void *forks(void *arg)
{
	pid_t child = fork();
	int status;

	want(child >= 0, 1);
	if (child == 0) {
		depth++;
		exit(work());
	}
	want(waitpid(child, &status, 0), child);
	want(WIFEXITED(status), 1);
	want(WEXITSTATUS(status), 10 + depth + 1);
	return arg;
}

int main(void)
{
	want(pthread_atfork(take, give, give), 0);
	want(work(), 10);
	return 0;
}

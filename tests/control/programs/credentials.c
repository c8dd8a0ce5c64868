/*
 * runs: 20
 * Threads change the credentials of the process, each to what it has. glibc signals all threads for
 * that, and they have to answer.
 */
#include "want.h"

#include <grp.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void change(void)
{
	gid_t groups[100];
	int n = getgroups(100, groups);

	want(setgid(getgid()), 0);
	want(setegid(getegid()), 0);
	want(setregid(getgid(), getegid()), 0);
	want(setresgid((gid_t)-1, getgid(), (gid_t)-1), 0);
	want(setuid(getuid()), 0);
	want(seteuid(geteuid()), 0);
	want(setreuid(getuid(), geteuid()), 0);
	want(setresuid((uid_t)-1, getuid(), (uid_t)-1), 0);
	if (getuid() == 0)
		want(setgroups((size_t)n, groups), 0);
	else
		want_error(setuid(0), EPERM);
}

static void *worker(void *arg)
{
	change();
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(void)
{
	pthread_t t[2];

	want(pthread_barrier_init(&barrier, NULL, 3), 0);
	for (int i = 0; i < 2; i++)
		t[i] = start(worker, NULL);
	change();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		finish(t[i]);
	change();
	puts("ok");
	return 0;
}

/*
 * runs: 40
 * Child processes: forked by two threads at once, waited for, connected by pipes, sending signals;
 * popen, system, posix_spawn.
 */
#include "want.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t children;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_child(int number)
{
	(void)number;
	children++;
}

static void *works(void *n)
{
	pthread_mutex_lock(&lock);
	*(int *)n += 1;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* The child creates threads, too. */
static void *forks(void *number)
{
	int n = (int)(long)number, status, sum = 0;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t[2] = { start(works, &sum), start(works, &sum) };

		finish(t[0]);
		finish(t[1]);
		_exit(sum == 2 ? n : 99);
	}
	want(pid > 0, 1);
	want(waitpid(pid, &status, 0), pid);
	want(WIFEXITED(status), 1);
	want(WEXITSTATUS(status), n);
	return NULL;
}

static void two_at_once(void)
{
	pthread_t t[2] = { start(forks, (void *)3L), start(forks, (void *)4L) };

	finish(t[0]);
	finish(t[1]);
	want_error(waitpid(-1, NULL, 0), ECHILD);
}

static void talks(void)
{
	int to[2], from[2], status;
	char text[8] = "";
	pid_t pid;

	want(pipe(to), 0);
	want(pipe(from), 0);
	pid = fork();
	if (pid == 0) {
		want(read(to[0], text, 4), 4);
		text[0]++;
		want(write(from[1], text, 4), 4);
		exit(0);
	}
	want(write(to[1], "abcd", 4), 4);
	want(read(from[0], text, sizeof(text)), 4);
	want(memcmp(text, "bbcd", 4), 0);
	want(wait(&status), pid);
	want(status, 0);
}

static void *waits_by_name(void *out)
{
	siginfo_t info;

	want(waitid(P_PID, (id_t)*(pid_t *)out, &info, WEXITED), 0);
	want(info.si_status, 7);
	return NULL;
}

static void others(void)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL }, line[64] = "";
	pthread_t t;
	pid_t pid;
	FILE *f;

	want(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ), 0);
	t = start(waits_by_name, &pid);
	finish(t);
	want(WEXITSTATUS(system("exit 5")), 5);
	f = popen("echo one; echo two; exit 3", "r");
	want(f != NULL, 1);
	want(fgets(line, sizeof(line), f) != NULL, 1);
	want(strcmp(line, "one\n"), 0);
	want(fgets(line, sizeof(line), f) != NULL, 1);
	want(strcmp(line, "two\n"), 0);
	want(fgets(line, sizeof(line), f) == NULL, 1);
	want(WEXITSTATUS(pclose(f)), 3);
}

static void by_signal(void)
{
	struct sigaction act = { .sa_handler = on_child };
	sigset_t set, open;
	pid_t pid;

	sigaction(SIGCHLD, &act, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	want(pthread_sigmask(SIG_BLOCK, &set, &open), 0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	while (!children)
		want_error(sigsuspend(&open), EINTR);
	want(waitpid(pid, NULL, WNOHANG), pid);
	want(children, 1);
}

int main(void)
{
	two_at_once();
	talks();
	others();
	by_signal();
	puts("ok");
	return 0;
}

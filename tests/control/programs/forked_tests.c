/*
 * runs: 20
 * A test runner that forks a child for each test. The children are controlled: they keep threads,
 * locks, time and thread-specific data of their own, they may fork again, die by a signal, or need
 * their parent.
 */
#include "want.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int count, pipes[2], answers[2];

struct semaphores {
	sem_t ask, answer;
};

static struct semaphores *shared;

static void *add(void *arg)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return arg;
}

/* What the other children did to `count` is not seen here. */
static void with_threads(void)
{
	pthread_t t[3];

	want(count, 0);
	for (int i = 0; i < 3; i++)
		t[i] = start(add, NULL);
	pthread_mutex_lock(&lock);
	while (count < 3)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
}

static void leaves_a_thread(void)
{
	start(add, NULL);
}

static void sleeps(void)
{
	sleep(3);
	with_threads();
}

static void is_killed(void)
{
	with_threads();
	abort();
}

static void forks(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		with_threads();
		_exit(3);
	}
	with_threads();
	want(waitpid(pid, &status, 0), pid);
	want(WEXITSTATUS(status), 3);
}

static void answers_parent(void)
{
	char c = 0;

	with_threads();
	want(read(pipes[0], &c, 1), 1);
	c++;
	want(write(answers[1], &c, 1), 1);
}

static void posts_to_parent(void)
{
	with_threads();
	want(sem_wait(&shared->ask), 0);
	want(sem_post(&shared->answer), 0);
}

static pid_t start_child(void (*test)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		test();
		_exit(7);
	}
	return pid;
}

static void end_child(pid_t pid, int signal)
{
	int status;

	want(waitpid(pid, &status, 0), pid);
	want(signal ? WTERMSIG(status) : WEXITSTATUS(status), signal ? signal : 7);
	want(count, 0);
}

int main(void)
{
	char c = 'a';
	pid_t pid;

	end_child(start_child(with_threads), 0);
	end_child(start_child(leaves_a_thread), 0);
	end_child(start_child(sleeps), 0);
	end_child(start_child(forks), 0);
	end_child(start_child(is_killed), SIGABRT);

	want(pipe(pipes), 0);
	want(pipe(answers), 0);
	pid = start_child(answers_parent);
	want(write(pipes[1], &c, 1), 1);
	want(read(answers[0], &c, 1), 1);
	want(c, 'b');
	end_child(pid, 0);

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	want(sem_init(&shared->ask, 1, 0), 0);
	want(sem_init(&shared->answer, 1, 0), 0);
	pid = start_child(posts_to_parent);
	want(sem_post(&shared->ask), 0);
	want(sem_wait(&shared->answer), 0);
	end_child(pid, 0);

	pid = start_child(with_threads);
	elsewhere(add, NULL);
	count = 0;
	end_child(pid, 0);
	puts("ok");
	return 0;
}

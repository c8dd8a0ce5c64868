/* Every sem_* call, unnamed and named. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static sem_t ping, pong, full;
static const struct timespec past = { 1, 0 };

/* expected: 0, or the errno that the call sets */
static void want(int got, int expected)
{
	if (got != (expected ? -1 : 0) || (expected && errno != expected))
		abort();
}

static void *partner(void *arg)
{
	for (int i = 0; i < 2; i++) {
		want(sem_wait(&ping), 0);
		want(sem_post(&pong), 0);
	}
	return arg;
}

static void play(void)
{
	pthread_t t;

	pthread_create(&t, NULL, partner, NULL);
	for (int i = 0; i < 2; i++) {
		want(sem_post(&ping), 0);
		want(sem_wait(&pong), 0);
	}
	pthread_join(t, NULL);
}

static void named(void)
{
	char name[64];
	sem_t *s;

	snprintf(name, sizeof(name), "/snarl-test-%d", (int)getpid());
	s = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	if (s == SEM_FAILED)
		abort();
	sem_unlink(name);
	want(sem_wait(s), 0);
	want(sem_post(s), 0);
	sem_close(s);
}

int main(void)
{
	want(sem_init(&ping, 0, 0), 0);
	want(sem_init(&pong, 0, 0), 0);
	want(sem_init(&full, 0, SEM_VALUE_MAX), 0);
	want(sem_init(&full, 0, SEM_VALUE_MAX + 1u), EINVAL);
	play();
	want(sem_trywait(&ping), EAGAIN);
	want(sem_timedwait(&ping, &past), ETIMEDOUT);
	want(sem_clockwait(&ping, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	want(sem_post(&ping), 0);
	want(sem_trywait(&ping), 0);
	want(sem_post(&ping), 0);
	want(sem_timedwait(&ping, &past), 0);
	want(sem_post(&full), EOVERFLOW);
	named();
	want(sem_destroy(&ping), 0);
	want(sem_destroy(&pong), 0);
	want(sem_destroy(&full), 0);
	return 0;
}

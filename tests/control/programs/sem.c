/* Semaphores: counting, time limits, cancellation, a post by a signal handler, named ones. */
#include "want.h"

#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t s, items, room;
static int slot, sum;

static void *produces(void *arg)
{
	for (int i = 1; i <= 4; i++) {
		want(sem_wait(&room), 0);
		slot = i;
		want(sem_post(&items), 0);
	}
	return arg;
}

static void *consumes(void *arg)
{
	for (int i = 1; i <= 4; i++) {
		want(sem_wait(&items), 0);
		sum += slot;
		want(sem_post(&room), 0);
	}
	return arg;
}

static void hands_over(void)
{
	pthread_t t[2];

	want(sem_init(&items, 0, 0), 0);
	want(sem_init(&room, 0, 1), 0);
	t[0] = start(produces, NULL);
	t[1] = start(consumes, NULL);
	finish(t[0]);
	finish(t[1]);
	want(sum, 10);
	want(sem_destroy(&items), 0);
	want(sem_destroy(&room), 0);
}

static void answers(void)
{
	struct timespec limit;
	int value;

	want(sem_init(&s, 0, 2), 0);
	want(sem_wait(&s), 0);
	want(sem_trywait(&s), 0);
	want_error(sem_trywait(&s), EAGAIN);
	want_error(sem_timedwait(&s, &past), ETIMEDOUT);
	want_error(sem_timedwait(&s, &invalid), EINVAL);
	limit = soon(CLOCK_REALTIME);
	want_error(sem_timedwait(&s, &limit), ETIMEDOUT);
	limit = soon(CLOCK_MONOTONIC);
	want_error(sem_clockwait(&s, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
	want_error(sem_clockwait(&s, CLOCK_PROCESS_CPUTIME_ID, &limit), EINVAL);
	want(sem_post(&s), 0);
	want(sem_getvalue(&s, &value), 0);
	want(value, 1);
	want(sem_timedwait(&s, &past), 0);
	want(sem_post(&s), 0);
	want(sem_clockwait(&s, CLOCK_MONOTONIC, &past), 0);
	want(sem_destroy(&s), 0);

	want(sem_init(&s, 0, SEM_VALUE_MAX), 0);
	want_error(sem_post(&s), EOVERFLOW);
	want(sem_destroy(&s), 0);
	want_error(sem_init(&s, 0, SEM_VALUE_MAX + 1u), EINVAL);
}

static void *waits_for_ever(void *arg)
{
	want(sem_post(&items), 0);
	want(sem_wait(arg), 0);
	abort();
}

static void cancels(void)
{
	pthread_t t;
	int value;

	want(sem_init(&s, 0, 0), 0);
	want(sem_init(&items, 0, 0), 0);
	t = start(waits_for_ever, &s);
	want(sem_wait(&items), 0);
	want(pthread_cancel(t), 0);
	want(finish(t) == PTHREAD_CANCELED, 1);
	want(sem_getvalue(&s, &value), 0);
	want(value, 0);
	want(sem_destroy(&items), 0);
	want(sem_destroy(&s), 0);
}

static void on_signal(int number)
{
	(void)number;
	want(sem_post(&s), 0);
}

static void *sends(void *to)
{
	want(pthread_kill(*(pthread_t *)to, SIGUSR1), 0);
	return NULL;
}

/* The handler posts what the interrupted thread waits for. */
static void handler_posts(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t self = pthread_self(), t;

	want(sigaction(SIGUSR1, &action, NULL), 0);
	want(sem_init(&s, 0, 0), 0);
	t = start(sends, &self);
	while (sem_wait(&s) != 0)
		want(errno, EINTR);
	finish(t);
	want(sem_destroy(&s), 0);
}

static void on_nothing(int number)
{
	(void)number;
}

static void *sends_and_posts(void *to)
{
	want(pthread_kill(*(pthread_t *)to, SIGUSR2), 0);
	want(sem_post(&s), 0);
	return NULL;
}

/* With SA_RESTART a wait without limit goes on. */
static void handler_restarts(void)
{
	struct sigaction action = { .sa_handler = on_nothing, .sa_flags = SA_RESTART };
	pthread_t self = pthread_self(), t;

	want(sigaction(SIGUSR2, &action, NULL), 0);
	want(sem_init(&s, 0, 0), 0);
	t = start(sends_and_posts, &self);
	want(sem_wait(&s), 0);
	finish(t);
	want(sem_destroy(&s), 0);
}

static void *posts(void *sem)
{
	want(sem_post(sem), 0);
	return NULL;
}

static void named(void)
{
	char name[64];
	sem_t *n;
	pthread_t t;

	snprintf(name, sizeof(name), "/snarl-test-%d", (int)getpid());
	n = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	want(n != SEM_FAILED, 1);
	want(sem_unlink(name), 0);
	want(sem_wait(n), 0);
	want_error(sem_trywait(n), EAGAIN);
	t = start(posts, n);
	want(sem_wait(n), 0);
	finish(t);
	want(sem_close(n), 0);
}

int main(void)
{
	hands_over();
	answers();
	cancels();
	handler_posts();
	handler_restarts();
	named();
	return 0;
}

/*
 * pthread_kill() to threads that wait: a semaphore, sleep, read and pause end with EINTR; a read
 * with SA_RESTART, a mutex, a join and a condition continue. Handlers run in the addressed thread,
 * see its data, and may use atomics and sem_post. Also a thread that takes all signals by sigwait,
 * and signal masks.
 */
#include "want.h"

#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t never, started, handled;
static int fds[2], go;
static atomic_int hits, ended;
static __thread int mine;

static void counts(int number)
{
	(void)number;
	hits++;
	mine++;
	sem_post(&handled);
}

static void *waits_semaphore(void *arg)
{
	sem_post(&started);
	want_error(sem_wait(&never), EINTR);
	want(mine > 0, 1);
	ended = 1;
	return arg;
}

static void *reads(void *arg)
{
	char byte;

	sem_post(&started);
	want_error(read(fds[0], &byte, 1), EINTR);
	ended = 1;
	return arg;
}

static void *reads_on(void *arg)
{
	char byte;

	sem_post(&started);
	want(read(fds[0], &byte, 1), 1);
	want(byte, 'x');
	return arg;
}

static void *sleeps(void *arg)
{
	struct timespec t = { 1000000, 0 }, left = { 0, 0 };

	sem_post(&started);
	want_error(nanosleep(&t, &left), EINTR);
	want(left.tv_sec > 900000, 1);
	ended = 1;
	return arg;
}

static void *waits_mutex(void *arg)
{
	sem_post(&started);
	want(pthread_mutex_lock(&m), 0);
	want(mine, 1);
	want(pthread_mutex_unlock(&m), 0);
	return arg;
}

static void *waits_condition(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	sem_post(&started);
	while (!go)
		want(pthread_cond_wait(&c, &m), 0);
	want(pthread_mutex_unlock(&m), 0);
	want(mine, 1);
	return arg;
}

static void *takes_signals(void *arg)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	for (int i = 0; i < 2; i++) {
		want(sigwait(&set, &number), 0);
		*(int *)arg |= number == SIGUSR1 ? 1 : 2;
	}
	return NULL;
}

static void handle(int flags)
{
	struct sigaction a = { .sa_handler = counts, .sa_flags = flags };

	sigemptyset(&a.sa_mask);
	want(sigaction(SIGUSR1, &a, NULL), 0);
}

/*
 * The schedule decides whether a signal finds the thread waiting or comes shortly before. So
 * signals are sent until one interrupts the wait.
 */
static void interrupt(void *(*routine)(void *))
{
	pthread_t t;

	ended = 0;
	t = start(routine, NULL);
	want(sem_wait(&started), 0);
	while (!ended) {
		want(pthread_kill(t, SIGUSR1), 0);
		sched_yield();
	}
	finish(t);
	while (sem_trywait(&handled) == 0)
		;
	want(errno, EAGAIN);
}

static void *interrupted_once(void *arg)
{
	/* Blocked until the wait, so that it comes just then. */
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	want(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
	sem_post(&started);
	want_error(sigsuspend(&none), EINTR);
	want(mine, 1);
	return arg;
}

static void restarts(void)
{
	pthread_t t;

	handle(SA_RESTART);
	t = start(reads_on, NULL);
	want(sem_wait(&started), 0);
	want(pthread_kill(t, SIGUSR1), 0);
	while (sem_wait(&handled) != 0)
		;
	want(write(fds[1], "x", 1), 1);
	finish(t);
}

static void goes_on(void)
{
	pthread_t t;

	want(pthread_mutex_lock(&m), 0);
	t = start(waits_mutex, NULL);
	want(sem_wait(&started), 0);
	want(pthread_kill(t, SIGUSR1), 0);
	want(sem_wait(&handled), 0);
	want(pthread_mutex_unlock(&m), 0);
	finish(t);

	t = start(waits_condition, NULL);
	want(sem_wait(&started), 0);
	want(pthread_kill(t, SIGUSR1), 0);
	want(sem_wait(&handled), 0);
	want(pthread_mutex_lock(&m), 0);
	go = 1;
	want(pthread_cond_signal(&c), 0);
	want(pthread_mutex_unlock(&m), 0);
	finish(t);
}

static void waited_for(void)
{
	sigset_t set;
	pthread_t t;
	int got = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	want(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	t = start(takes_signals, &got);
	want(pthread_kill(t, SIGUSR1), 0);
	want(kill(getpid(), SIGUSR2), 0);
	finish(t);
	want(got, 3);
	want(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
}

int main(void)
{
	pthread_t t;

	want(sem_init(&never, 0, 0) + sem_init(&started, 0, 0) + sem_init(&handled, 0, 0), 0);
	want(pipe(fds), 0);
	handle(0);
	interrupt(waits_semaphore);
	interrupt(reads);
	interrupt(sleeps);
	hits = 0;
	t = start(interrupted_once, NULL);
	want(sem_wait(&started), 0);
	want(pthread_kill(t, SIGUSR1), 0);
	finish(t);
	want(hits, 1);
	want(sem_wait(&handled), 0);
	restarts();
	goes_on();
	waited_for();
	return 0;
}

/*
 * pthread_once: first and later callers, one initialiser inside another, one that is cancelled and
 * run again, one that leaves by longjmp.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdlib.h>

static pthread_once_t simple = PTHREAD_ONCE_INIT, outer = PTHREAD_ONCE_INIT;
static pthread_once_t inner = PTHREAD_ONCE_INIT, broken = PTHREAD_ONCE_INIT;
static pthread_once_t jumped = PTHREAD_ONCE_INIT, after = PTHREAD_ONCE_INIT;
static sem_t never;
static jmp_buf out;
static int calls;

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void count(void)
{
	calls++;
}

static void nest(void)
{
	want(pthread_once(&inner, count), 0);
	want(pthread_once(&simple, count), 0);
	calls++;
}

static void hang(void)
{
	sem_wait(&never);
}

static void jump(void)
{
	longjmp(out, 1);
}

static void *later(void *arg)
{
	want(pthread_once(&simple, count), 0);
	return arg;
}

static void *cancelled(void *arg)
{
	pthread_once(&broken, hang);
	return arg;
}

int main(void)
{
	pthread_t t;

	want(pthread_once(&simple, count), 0);
	want(pthread_once(&simple, count), 0);
	want(pthread_once(&outer, nest), 0);
	want(calls, 3);

	want(pthread_create(&t, NULL, later, NULL), 0);
	want(pthread_join(t, NULL), 0);

	sem_init(&never, 0, 0);
	want(pthread_create(&t, NULL, cancelled, NULL), 0);
	want(pthread_cancel(t), 0);
	want(pthread_join(t, NULL), 0);
	want(pthread_once(&broken, count), 0);
	want(calls, 4);

	if (!setjmp(out))
		pthread_once(&jumped, jump);
	want(pthread_once(&after, count), 0);
	want(calls, 5);
	return 0;
}

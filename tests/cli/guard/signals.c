/*
 * Two threads add under a lock, with time between reading and writing, while signals interrupt
 * them; every fourth handler leaves by a jump.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#define ROUNDS 20000

static long sum, handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread sigjmp_buf back;
static __thread volatile int may_jump;

static void on_alarm(int number)
{
	(void)number;
	handled++;	/* @handler */
	if (may_jump) {
		may_jump = 0;
		siglongjmp(back, 1);
	}
}

static __attribute__((noinline)) void add_one(void)
{
	long old = sum;		/* @read */

	sum = old + 1;		/* @write */
}

static void *work(void *arg)
{
	handled++;	/* shared, so that a trace has the handler's accesses */
	for (volatile int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		add_one();
		pthread_mutex_unlock(&lock);
		if (i % 4 == 0 && sigsetjmp(back, 1) == 0) {
			may_jump = 1;
			for (volatile int k = 0; k < 200; k++)
				handled += 0;
			may_jump = 0;
		}
	}
	return arg;
}

int main(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	pthread_t t[2];

	sigaction(SIGALRM, &act, NULL);
	raise(SIGALRM);		/* at least one signal */
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("sum %ld\n", sum);
	return 0;
}

/*
 * Threads that fault and continue: the handler of SIGSEGV runs in the thread whose access was
 * invalid, and leaves by siglongjmp, again and again.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "want.h"

#define FAULTS 3

static int *volatile nowhere;
static __thread sigjmp_buf back;
static __thread int caught;
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_fault(int number)
{
	(void)number;
	caught++;
	siglongjmp(back, 1);
}

static void *faulty(void *arg)
{
	for (volatile int i = 0; i < FAULTS; i++)
		if (!sigsetjmp(back, 1))
			*nowhere = i;
	pthread_mutex_lock(&lock);
	total += caught;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_fault };
	pthread_t threads[2];

	want(sigaction(SIGSEGV, &action, NULL), 0);
	for (int i = 0; i < 2; i++)
		want(pthread_create(&threads[i], NULL, faulty, NULL), 0);
	for (int i = 0; i < 2; i++)
		want(pthread_join(threads[i], NULL), 0);
	want(total, 2 * FAULTS);
	return 0;
}

/* pthread_once and call_once: the second caller waits; a cancelled first caller does not count. */
#include "want.h"

#include <semaphore.h>
#include <threads.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static pthread_once_t inner = PTHREAD_ONCE_INIT;
static int runs, done, flag_runs, inner_runs;

static void runs_inner(void)
{
	inner_runs++;
}

static void initialises(void)
{
	runs++;
	want(pthread_once(&inner, runs_inner), 0);
	done = 1;
}

static void initialises_c11(void)
{
	flag_runs++;
}

static void *comes(void *arg)
{
	want(pthread_once(&once, initialises), 0);
	want(done, 1);
	call_once(&flag, initialises_c11);
	want(flag_runs, 1);
	return arg;
}

static pthread_once_t tried = PTHREAD_ONCE_INIT;
static sem_t inside, never;
static int tries;

static void hangs_at_first(void)
{
	if (__atomic_fetch_add(&tries, 1, __ATOMIC_SEQ_CST) == 0) {
		want(sem_post(&inside), 0);
		want(sem_wait(&never), 0);
	}
}

static void *tries_it(void *arg)
{
	want(pthread_once(&tried, hangs_at_first), 0);
	return arg;
}

/* The second caller waits for the first, which is cancelled, and runs the routine itself. */
static void cancels(void)
{
	pthread_t first, second;

	want(sem_init(&inside, 0, 0), 0);
	want(sem_init(&never, 0, 0), 0);
	first = start(tries_it, NULL);
	want(sem_wait(&inside), 0);
	second = start(tries_it, NULL);
	want(pthread_cancel(first), 0);
	want(finish(first) == PTHREAD_CANCELED, 1);
	want(finish(second) == NULL, 1);
	want(tries, 2);
	want(pthread_once(&tried, hangs_at_first), 0);
	want(tries, 2);
}

int main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		t[i] = start(comes, NULL);
	for (int i = 0; i < 3; i++)
		finish(t[i]);
	want(runs, 1);
	want(inner_runs, 1);
	cancels();
	return 0;
}

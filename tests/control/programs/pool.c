/*
 * A pool of threads without join: main returns while they wait for work. All jobs are done by then,
 * and atexit() handlers run.
 */
#include "want.h"

#include <unistd.h>

#define WORKERS 3
#define JOBS 7

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, all_done = PTHREAD_COND_INITIALIZER;
static int queue[JOBS], head, tail, done, sum;

static void *works(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		int job;

		while (head == tail)
			pthread_cond_wait(&more, &lock);
		job = queue[tail++];
		pthread_mutex_unlock(&lock);
		job *= job;
		pthread_mutex_lock(&lock);
		sum += job;
		if (++done == JOBS)
			pthread_cond_signal(&all_done);
	}
	return arg;
}

static void at_the_end(void)
{
	want(pthread_mutex_lock(&lock), 0);
	want(sum, 1 + 4 + 9 + 16 + 25 + 36 + 49);
	want(pthread_mutex_unlock(&lock), 0);
	want(write(STDOUT_FILENO, "done\n", 5), 5);
}

int main(void)
{
	want(atexit(at_the_end), 0);
	for (int i = 0; i < WORKERS; i++)
		start(works, NULL);
	for (int i = 1; i <= JOBS; i++) {
		pthread_mutex_lock(&lock);
		queue[head++] = i;
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&more);
	}
	pthread_mutex_lock(&lock);
	while (done < JOBS)
		pthread_cond_wait(&all_done, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

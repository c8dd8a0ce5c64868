/* floor 6; bug: race head */
/*
 * A linked list of jobs under a mutex, with a condition; two workers add up and free them.
 * That main adds jobs and then closes the queue could be meant to be one step: then a worker comes
 * in between, and two candidates or more remain.
 * BROKEN: a worker looks at the head of the list before it takes the mutex.
 */
#include <pthread.h>
#include <stdlib.h>

#define JOBS 10

struct job {
	struct job *next;
	int amount;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *head, **tail = &head;
static int closed, total;
#ifdef BROKEN
static __thread int idle;
#endif

static void add(int amount)
{
	struct job *job = malloc(sizeof(*job));

	job->next = NULL;
	job->amount = amount;
	pthread_mutex_lock(&lock);
	*tail = job;
	tail = &job->next;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static struct job *take(void)
{
	struct job *job;

#ifdef BROKEN
	idle += !head;	/* bug */
#endif
	pthread_mutex_lock(&lock);
	while (!head && !closed)
		pthread_cond_wait(&changed, &lock);
	job = head;
	if (job) {
		head = job->next;
		if (!head)
			tail = &head;
	}
	pthread_mutex_unlock(&lock);
	return job;
}

static void *worker(void *arg)
{
	struct job *job;

	while ((job = take())) {
		int amount = job->amount;

		free(job);
		pthread_mutex_lock(&lock);
		total += amount;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t workers[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&workers[i], NULL, worker, NULL);
	for (int i = 1; i <= JOBS; i++)
		add(i);
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i], NULL);
	return total != JOBS * (JOBS + 1) / 2;
}

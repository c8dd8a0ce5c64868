/*
 * joblist.c, repaired: checking for a job and taking it are one critical section.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define JOBS 4
#define WORKERS 2

struct job {
	int number;
	struct job *next;
};

/* A circular list; the pointer is to its last element, NULL when it is empty. */
static struct job *last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job jobs[JOBS];
static int done[JOBS];

static void list_add(struct job *job)
{
	if (last) {
		job->next = last->next;
		last->next = job;
	} else {
		job->next = job;
	}
	last = job;
}

/* Returns NULL if the list is empty. */
static struct job *list_take(void)
{
	struct job *first = NULL;

	pthread_mutex_lock(&lock);
	if (last) {
		first = last->next;
		if (first == last)
			last = NULL;
		else
			last->next = first->next;
	}
	pthread_mutex_unlock(&lock);
	return first;
}

static void *worker(void *arg)
{
	struct job *job;

	(void)arg;
	while ((job = list_take()))
		done[job->number]++;
	return NULL;
}

int main(void)
{
	pthread_t workers[WORKERS];

	for (int i = 0; i < JOBS; i++) {
		jobs[i].number = i;
		list_add(&jobs[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, worker, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (int i = 0; i < JOBS; i++)
		assert(done[i] == 1);
	printf("%d jobs done\n", JOBS);
	return 0;
}

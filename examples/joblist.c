/*
 * Check, then act. A worker checks whether the list has a job and takes one
 * afterwards. Both steps lock, but between them the other worker may take the last
 * job, so that this one takes a job from an empty list.
 *
 * Lesson: what was checked may have changed as soon as the lock is released.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
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

static bool list_empty(void)
{
	bool empty;

	pthread_mutex_lock(&lock);
	empty = !last;
	pthread_mutex_unlock(&lock);
	return empty;
}

static struct job *list_take(void)
{
	struct job *first;

	pthread_mutex_lock(&lock);
	assert(last);
	first = last->next;
	if (first == last)
		last = NULL;
	else
		last->next = first->next;
	pthread_mutex_unlock(&lock);
	return first;
}

static void *worker(void *arg)
{
	(void)arg;
	while (!list_empty())
		done[list_take()->number]++;
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

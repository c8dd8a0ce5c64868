/*
 * Work is handed over through a pipe: the kernel is the only synchronisation. Broken: a job is
 * completed after it was sent.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define JOBS 3

struct job {
	int number, square;
};

static int to_worker[2], to_main[2];

static void give(int fd, struct job *job)
{
	ssize_t n = write(fd, &job, sizeof(job));

	assert(n == sizeof(job));
}

static struct job *take(int fd)
{
	struct job *job;

	return read(fd, &job, sizeof(job)) == sizeof(job) ? job : NULL;
}

static void *worker(void *arg)
{
	struct job *job;

	while ((job = take(to_worker[0])) != NULL) {
#ifdef BROKEN
		give(to_main[1], job);
		job->square = job->number * job->number;
#else
		job->square = job->number * job->number;
		give(to_main[1], job);
#endif
	}
	close(to_main[1]);
	return arg;
}

int main(void)
{
	struct job *job;
	pthread_t thread;
	int sum = 0;

	if (pipe(to_worker) != 0 || pipe(to_main) != 0)
		return 1;
	pthread_create(&thread, NULL, worker, NULL);
	for (int i = 1; i <= JOBS; i++) {
		job = calloc(1, sizeof(*job));
		job->number = i;
		give(to_worker[1], job);
	}
	close(to_worker[1]);
	while ((job = take(to_main[0])) != NULL) {
		sum += job->square;
		free(job);
	}
	pthread_join(thread, NULL);
	assert(sum == 1 + 4 + 9);
	return 0;
}

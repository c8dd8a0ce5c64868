/*
 * After the shape of a bug put into pfscan, a parallel file scanner: an order
 * violation. Main starts the scanners, gives them files, scans too, and waits until the
 * number of running scanners is 0. This counter is set only after the files are added. A
 * scanner that finds no files yet ends and is not counted.
 *
 * Breaks when a scanner decrements `running` in scan() between pool_fill() and
 * set_running() of main: the decrement is overwritten, and main waits for ever. Every
 * access is locked. The twin sets the counter before it adds the files.
 *
 * Lesson: set a counter of threads before the first of them can decrement it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define SCANNERS 2
#define FILES 3

struct pool {
	pthread_mutex_t lock;
	bool filled;
	int files;
	int at_home;	/* scanners that came before the files */

	pthread_mutex_t running_lock;
	pthread_cond_t one_less;
	int running;
	int scanned;
};

static void set_running(struct pool *p, int running)
{
	pthread_mutex_lock(&p->running_lock);
	p->running = running;
	pthread_mutex_unlock(&p->running_lock);
}

/* Sets the number of scanners that will run. */
static int pool_fill(struct pool *p)
{
	int scanners;

	pthread_mutex_lock(&p->lock);
	p->files = FILES;
	p->filled = true;
	scanners = SCANNERS - p->at_home;
	pthread_mutex_unlock(&p->lock);
	return scanners;
}

static bool pool_enter(struct pool *p)
{
	bool filled;

	pthread_mutex_lock(&p->lock);
	filled = p->filled;
	p->at_home += !filled;
	pthread_mutex_unlock(&p->lock);
	return filled;
}

/* Returns the number of files that were not scanned. */
static int pool_take(struct pool *p)
{
	int files;

	pthread_mutex_lock(&p->lock);
	files = p->files;
	if (files)
		p->files--;
	pthread_mutex_unlock(&p->lock);
	return files;
}

static void pool_scan(struct pool *p)
{
	while (pool_take(p)) {
		pthread_mutex_lock(&p->running_lock);
		p->scanned++;
		pthread_mutex_unlock(&p->running_lock);
	}
}

static void *scan(void *arg)
{
	struct pool *p = arg;

	if (!pool_enter(p))
		return NULL;
	pool_scan(p);
	pthread_mutex_lock(&p->running_lock);
	p->running--;
	pthread_cond_signal(&p->one_less);
	pthread_mutex_unlock(&p->running_lock);
	return NULL;
}

int main(void)
{
	static struct pool p = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.running_lock = PTHREAD_MUTEX_INITIALIZER,
		.one_less = PTHREAD_COND_INITIALIZER,
	};
	pthread_t scanners[SCANNERS];

	for (int i = 0; i < SCANNERS; i++)
		pthread_create(&scanners[i], NULL, scan, &p);
	set_running(&p, pool_fill(&p));
	pool_scan(&p);
	pthread_mutex_lock(&p.running_lock);
	while (p.running)
		pthread_cond_wait(&p.one_less, &p.running_lock);
	pthread_mutex_unlock(&p.running_lock);
	for (int i = 0; i < SCANNERS; i++)
		pthread_join(scanners[i], NULL);
	printf("%d files scanned\n", p.scanned);
	return p.scanned != FILES;
}

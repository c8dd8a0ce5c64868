/*
 * aget_1.c, repaired: the log is taken in one critical section.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CHUNK 4
#define SIZE (4 * CHUNK)

static const char source[SIZE + 1] = "sixteen bytes...";

struct log {
	size_t offset, done;
};

struct download {
	pthread_mutex_t lock;
	size_t offset, done;
	bool stop;
	char file[SIZE + 1];
	struct log log;
};

static void *download(void *arg)
{
	struct download *d = arg;
	bool more = true;

	while (more) {
		pthread_mutex_lock(&d->lock);
		if (d->offset < SIZE && !d->stop) {
			memcpy(d->file + d->offset, source + d->offset, CHUNK);
			d->offset += CHUNK;
			d->done += CHUNK;
		} else {
			more = false;
		}
		pthread_mutex_unlock(&d->lock);
	}
	return NULL;
}

static void log_save(struct download *d)
{
	pthread_mutex_lock(&d->lock);
	d->log.offset = d->offset;
	d->log.done = d->done;
	pthread_mutex_unlock(&d->lock);
}

static void *interrupted(void *arg)
{
	struct download *d = arg;

	log_save(d);
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* The next run of the program, which knows the log and the file. */
static void resume(struct download *d)
{
	memcpy(d->file + d->log.offset, source + d->log.offset, SIZE - d->log.done);
}

int main(void)
{
	static struct download d = { .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t downloader, signals;

	pthread_create(&downloader, NULL, download, &d);
	pthread_create(&signals, NULL, interrupted, &d);
	pthread_join(downloader, NULL);
	pthread_join(signals, NULL);
	resume(&d);
	if (strcmp(d.file, source) != 0) {
		printf("lost, have only: %s\n", d.file);
		return 1;
	}
	printf("%s\n", d.file);
	return 0;
}

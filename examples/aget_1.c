/*
 * After the shape of a bug of aget, a download accelerator (the user presses ctrl-c
 * while it downloads): an atomicity violation over two variables. The thread that
 * takes the signal saves where the download is and how much of it is done, so that
 * it can be resumed; the download goes on meanwhile.
 *
 * Breaks when download() finishes a chunk between the two critical sections of
 * log_save(): offset is the old one, done the new one. Resumed from the log, the
 * download believes that less is missing than is, and the end of the file is lost.
 * No data race. The twin reads both in one critical section.
 *
 * Lesson: a snapshot of two things needs one hold of the lock.
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
	pthread_mutex_unlock(&d->lock);
	pthread_mutex_lock(&d->lock);
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

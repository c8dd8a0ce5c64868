/*
 * After the shape of a bug of Mozilla's portable runtime on the Mac (Mozilla-6): an
 * order violation. A thread starts an I/O operation, notes that it is pending and
 * waits until the completion routine says that it no longer is. A device that finds
 * no request switches itself off; then there is nothing to wait for.
 *
 * Breaks when the device completes (`pending = false` in io_done()) between
 * io_start() and `pending = true` in io_wait(): the completion is overwritten, and
 * the reader waits for ever. Every access is locked. The twin notes it before it starts.
 *
 * Lesson: prepare for the answer before you ask.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define VALUE 7

struct io {
	pthread_mutex_t lock;
	pthread_cond_t completed;
	bool off;
	bool requested;
	bool pending;
	int value;
};

/* Returns false if the device is off. */
static bool io_start(struct io *io)
{
	bool on;

	pthread_mutex_lock(&io->lock);
	on = !io->off;
	io->requested = on;
	pthread_mutex_unlock(&io->lock);
	return on;
}

static int io_wait(struct io *io)
{
	int value;

	pthread_mutex_lock(&io->lock);
	io->pending = true;
	while (io->pending)
		pthread_cond_wait(&io->completed, &io->lock);
	value = io->value;
	pthread_mutex_unlock(&io->lock);
	return value;
}

/* The completion routine. */
static void io_done(struct io *io, int value)
{
	pthread_mutex_lock(&io->lock);
	io->value = value;
	io->pending = false;
	pthread_cond_signal(&io->completed);
	pthread_mutex_unlock(&io->lock);
}

static void *reader(void *arg)
{
	static int value;
	struct io *io = arg;

	value = io_start(io) ? io_wait(io) : VALUE;
	return &value;
}

static void *device(void *arg)
{
	struct io *io = arg;
	bool requested;

	pthread_mutex_lock(&io->lock);
	requested = io->requested;
	io->off = !requested;
	pthread_mutex_unlock(&io->lock);
	if (requested)
		io_done(io, VALUE);
	return NULL;
}

int main(void)
{
	static struct io io = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.completed = PTHREAD_COND_INITIALIZER,
	};
	pthread_t user, disk;
	void *value;

	pthread_create(&user, NULL, reader, &io);
	pthread_create(&disk, NULL, device, &io);
	pthread_join(user, &value);
	pthread_join(disk, NULL);
	printf("read %d\n", *(int *)value);
	return *(int *)value != VALUE;
}

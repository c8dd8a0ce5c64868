/*
 * mozilla_6.c, repaired: the operation is noted as pending before it can complete.
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
	io->pending = on;
	pthread_mutex_unlock(&io->lock);
	return on;
}

static int io_wait(struct io *io)
{
	int value;

	pthread_mutex_lock(&io->lock);
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

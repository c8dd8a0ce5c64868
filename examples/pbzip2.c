/*
 * After the shape of a bug of pbzip2, a parallel compressor: an order violation that
 * ends in a use after free. Main waits for the writer, which ends when all blocks
 * are written, and then frees the mutex of the queue. The compressing thread may still
 * run: it checks the queue once more, and finds it empty.
 *
 * Breaks when the compressor is delayed after its last output_put(), or inside its last
 * critical section: queue_delete() frees `q->mut` and clears it, and compress() locks or
 * unlocks a freed mutex. The twin joins both threads first.
 *
 * Lesson: free what a thread uses when that thread has ended, not when its work has.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 3

struct queue {
	pthread_mutex_t *mut;
	int blocks[BLOCKS];
	int head;
};

struct output {
	pthread_mutex_t lock;
	pthread_cond_t grown;
	int blocks, bytes;
};

struct job {
	struct queue queue;
	struct output output;
};

static void queue_init(struct queue *q)
{
	q->mut = malloc(sizeof(*q->mut));
	if (!q->mut)
		abort();
	pthread_mutex_init(q->mut, NULL);
	for (int i = 0; i < BLOCKS; i++)
		q->blocks[i] = 100 + i;
}

static void queue_delete(struct queue *q)
{
	pthread_mutex_destroy(q->mut);
	free(q->mut);
	q->mut = NULL;
}

static void output_put(struct output *out, int bytes)
{
	pthread_mutex_lock(&out->lock);
	out->blocks++;
	out->bytes += bytes;
	pthread_cond_signal(&out->grown);
	pthread_mutex_unlock(&out->lock);
}

static void *compress(void *arg)
{
	struct job *job = arg;
	struct queue *q = &job->queue;
	int block;

	for (;;) {
		pthread_mutex_lock(q->mut);
		if (q->head == BLOCKS) {
			pthread_mutex_unlock(q->mut);
			return NULL;
		}
		block = q->blocks[q->head++];
		pthread_mutex_unlock(q->mut);
		output_put(&job->output, block / 2);
	}
}

static void *write_out(void *arg)
{
	struct job *job = arg;
	struct output *out = &job->output;

	pthread_mutex_lock(&out->lock);
	while (out->blocks < BLOCKS)
		pthread_cond_wait(&out->grown, &out->lock);
	pthread_mutex_unlock(&out->lock);
	return NULL;
}

int main(void)
{
	static struct job job = {
		.output = {
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.grown = PTHREAD_COND_INITIALIZER,
		},
	};
	pthread_t compressor, writer;

	queue_init(&job.queue);
	pthread_create(&compressor, NULL, compress, &job);
	pthread_create(&writer, NULL, write_out, &job);
	pthread_join(writer, NULL);
	queue_delete(&job.queue);
	pthread_join(compressor, NULL);
	printf("%d blocks, %d bytes\n", job.output.blocks, job.output.bytes);
	return 0;
}

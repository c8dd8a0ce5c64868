/*
 * One thread makes items on the heap, the other takes them from a bounded queue,
 * works on them and frees them. A mutex and two condition variables.
 */
#include "kernel.h"

#define DEPTH 64
#define WORDS 64

struct item {
	long number;
	uint64_t words[WORDS];
};

static struct item *queue[DEPTH];
static long head, tail;	/* items put and taken so far */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static long items;
static uint64_t sum;

static void produce(void)
{
	uint64_t seed = 7;

	for (long i = 0; i < items; i++) {
		struct item *item = kernel_alloc(sizeof(*item));

		item->number = i;
		for (int k = 0; k < WORDS; k++)
			item->words[k] = kernel_random(&seed);
		pthread_mutex_lock(&lock);
		while (head - tail == DEPTH)
			pthread_cond_wait(&not_full, &lock);
		queue[head++ % DEPTH] = item;
		pthread_cond_signal(&not_empty);
		pthread_mutex_unlock(&lock);
	}
}

static void consume(void)
{
	for (long i = 0; i < items; i++) {
		struct item *item;

		pthread_mutex_lock(&lock);
		while (head == tail)
			pthread_cond_wait(&not_empty, &lock);
		item = queue[tail++ % DEPTH];
		pthread_cond_signal(&not_full);
		pthread_mutex_unlock(&lock);
		for (int k = 0; k < WORDS; k++)
			sum = kernel_mix(sum, item->words[k]);
		sum = kernel_mix(sum, (uint64_t)item->number);
		free(item);
	}
}

static void part(int self)
{
	if (self == 0)
		produce();
	else
		consume();
}

int main(int argc, char **argv)
{
	items = kernel_size(argc, argv, 700000);
	kernel_run(part);
	printf("queue %016llx\n", (unsigned long long)sum);
	return 0;
}

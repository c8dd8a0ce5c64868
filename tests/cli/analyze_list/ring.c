/* floor 0; bug: atomicity|atomicity2 used|in|ring */
/*
 * Items go to a worker through a ring of three slots under a mutex. The worker frees them.
 * BROKEN: room is looked for in one critical section and used in the next.
 */
#include <pthread.h>
#include <stdlib.h>

#define SLOTS 3
#define ITEMS 8

struct item {
	int kind, size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static struct item *ring[SLOTS];
static int in, out, used, sum;

static void put(struct item *item)
{
	pthread_mutex_lock(&lock);
	while (used == SLOTS)
		pthread_cond_wait(&not_full, &lock);
#ifdef BROKEN
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
	ring[in] = item;	/* bug */
	in = (in + 1) % SLOTS;	/* bug */
	used++;	/* bug */
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

static struct item *get(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	while (used == 0)
		pthread_cond_wait(&not_empty, &lock);
	item = ring[out];
	out = (out + 1) % SLOTS;
	used--;
	pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&lock);
	return item;
}

static void *worker(void *arg)
{
	struct item *item;

	while ((item = get())) {
		sum += item->kind + item->size;
		free(item);
	}
	return arg;
}

static void *producer(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
		struct item *item = malloc(sizeof(*item));

		item->kind = i & 1;
		item->size = i;
		if (item->kind)
			item->size++;
		put(item);
	}
	return arg;
}

int main(void)
{
	pthread_t consumer, second;

	pthread_create(&consumer, NULL, worker, NULL);
	pthread_create(&second, NULL, producer, NULL);
	producer(NULL);
	pthread_join(second, NULL);
	put(NULL);
	pthread_join(consumer, NULL);
	return sum != 2 * (28 + 4 + 4);
}

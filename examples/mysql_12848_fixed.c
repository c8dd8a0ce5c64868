/*
 * mysql_12848.c, repaired: the size is read under the lock, where no temporary value can be
 * seen.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define MEMORY 8	/* bins that can be allocated */
#define ASKED 16
#define QUERIES 3

struct bin {
	int queries;
};

static struct bin memory[MEMORY];
static struct bin *bins[ASKED];	/* NULL from cache_size on */
static int cache_size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the number of bins. A function of its own, or the compiler merges two stores. */
static __attribute__((noinline)) int cache_init(void)
{
	int count = cache_size;

	while (count > MEMORY)
		count /= 2;
	for (int i = 0; i < count; i++)
		bins[i] = &memory[i];
	return count;
}

static void cache_resize(int size)
{
	pthread_mutex_lock(&lock);
	cache_size = size;
	cache_size = cache_init();
	pthread_mutex_unlock(&lock);
}

static void query_store(int hash)
{
	pthread_mutex_lock(&lock);
	bins[hash % cache_size]->queries++;
	pthread_mutex_unlock(&lock);
}

static void *client(void *arg)
{
	(void)arg;
	for (int i = 0; i < QUERIES; i++)
		query_store(ASKED - 1 - i);
	return NULL;
}

static void *administrator(void *arg)
{
	(void)arg;
	cache_resize(ASKED);
	return NULL;
}

int main(void)
{
	pthread_t storing, resizing;
	int stored = 0;

	cache_resize(MEMORY / 2);
	pthread_create(&storing, NULL, client, NULL);
	pthread_create(&resizing, NULL, administrator, NULL);
	pthread_join(storing, NULL);
	pthread_join(resizing, NULL);
	for (int i = 0; i < MEMORY; i++)
		stored += memory[i].queries;
	assert(stored == QUERIES);
	printf("%d queries stored\n", stored);
	return 0;
}

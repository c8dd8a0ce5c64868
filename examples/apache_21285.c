/*
 * Apache bug 21285: a temporary entry expected to be still in the cache. When a request
 * begins, an entry of unknown length is put into the cache (a), so that others find it;
 * when the answer is complete, the entry is taken out (c), gets its length, and is put
 * back.
 *
 * Every step locks. But the cache has little room, and other requests may drive out the
 * oldest entry (b) meanwhile: then there is nothing to take out, and the program uses a
 * NULL pointer. No data race.
 *
 * The repaired twin makes a new entry if the temporary one is gone.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ROOM 2
#define REQUESTS 2	/* of each thread */

struct entry {
	int url;
	int length;
};

static struct entry entries[1 + 2 * REQUESTS];
static struct entry *cache[ROOM];	/* oldest first */
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct entry *entry_new(int url)
{
	entries[url] = (struct entry){ url, 0 };
	return &entries[url];
}

/* Called with the lock held, as are the next two. */
static struct entry *cache_take_at(int at)
{
	struct entry *entry = cache[at];

	count--;
	memmove(&cache[at], &cache[at + 1], (count - at) * sizeof(cache[0]));
	return entry;
}

static void cache_put(struct entry *entry)
{
	if (count == ROOM)
		cache_take_at(0);		/* (b) */
	cache[count++] = entry;
}

/* Returns NULL if the cache has no entry for it. */
static struct entry *cache_take(int url)
{
	for (int i = 0; i < count; i++)
		if (cache[i]->url == url)
			return cache_take_at(i);
	return NULL;
}

static void request_begin(int url)
{
	pthread_mutex_lock(&lock);
	cache_put(entry_new(url));		/* (a) */
	pthread_mutex_unlock(&lock);
}

static void request_end(int url, int length)
{
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = cache_take(url);		/* (c) */
	entry->length = length;
	cache_put(entry);
	pthread_mutex_unlock(&lock);
}

static void request(int url)
{
	request_begin(url);
	request_end(url, 100 + url);
}

static void *serve(void *arg)
{
	int first = *(int *)arg;

	for (int url = first; url < first + REQUESTS; url++)
		request(url);
	return NULL;
}

int main(void)
{
	int urls[2] = { 1, 1 + REQUESTS };
	pthread_t threads[2];

	request(0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, &urls[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d entries cached\n", count);
	return 0;
}

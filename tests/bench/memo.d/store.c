/*
 * A small store: requests of a file (set, get, del) go to two servers over a list; what they keep
 * is in a table under a lock for readers and writers, with a cache of the last answer.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 8
#define SERVERS 2

struct request {
	struct request *next;
	char verb[8];
	int key, value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there = PTHREAD_COND_INITIALIZER;
static struct request *head, **tail = &head;
static int closed;

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
	int used, value;
} table[KEYS];

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static int cached_key = -1, cached_value;
static atomic_int hits, misses;

static void submit(struct request *r)
{
	pthread_mutex_lock(&lock);
	*tail = r;
	tail = &r->next;
	pthread_cond_signal(&there);
	pthread_mutex_unlock(&lock);
}

static struct request *next_request(void)
{
	struct request *r;

	pthread_mutex_lock(&lock);
	while (!head && !closed)
		pthread_cond_wait(&there, &lock);
	r = head;
	if (r) {
		head = r->next;
		if (!head)
			tail = &head;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

static void forget(int key)
{
	pthread_mutex_lock(&cache_lock);
	if (cached_key == key)
		cached_key = -1;
	pthread_mutex_unlock(&cache_lock);
}

static void set(int key, int value)
{
	pthread_rwlock_wrlock(&table_lock);
	table[key].used = 1;
	table[key].value = value;
	pthread_rwlock_unlock(&table_lock);
	forget(key);
}

static void get(int key)
{
	int known;

	pthread_mutex_lock(&cache_lock);
	known = cached_key == key;
	pthread_mutex_unlock(&cache_lock);
	if (known) {
		atomic_fetch_add(&hits, 1);
		return;
	}
	atomic_fetch_add(&misses, 1);
	pthread_rwlock_rdlock(&table_lock);
	known = table[key].used ? table[key].value : 0;
	pthread_rwlock_unlock(&table_lock);
	pthread_mutex_lock(&cache_lock);
	cached_key = key;
	cached_value = known;
	pthread_mutex_unlock(&cache_lock);
}

static void del(int key)
{
	pthread_rwlock_wrlock(&table_lock);
	table[key].used = 0;
	pthread_rwlock_unlock(&table_lock);
	forget(key);
}

static void *serve(void *arg)
{
	struct request *r;

	while ((r = next_request())) {
		if (strcmp(r->verb, "set") == 0)
			set(r->key % KEYS, r->value);
		else if (strcmp(r->verb, "get") == 0)
			get(r->key % KEYS);
		else
			del(r->key % KEYS);
		free(r);
	}
	return arg;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
	pthread_t server[SERVERS];
	struct request r = { 0 };

	if (!f)
		return 2;
	for (int i = 0; i < SERVERS; i++)
		pthread_create(&server[i], NULL, serve, NULL);
	while (fscanf(f, "%7s %d %d", r.verb, &r.key, &r.value) == 3) {
		struct request *own = malloc(sizeof(*own));

		*own = r;
		submit(own);
	}
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&there);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < SERVERS; i++)
		pthread_join(server[i], NULL);
	printf("%d hits, %d misses\n", hits, misses);
	return 0;
}

/*
 * memcached_127.c, repaired: reading and writing are one critical section, so that an
 * item cannot change in between, whichever way it is written.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT 8

struct item {
	int digits;
	char text[TEXT];
};

struct cache {
	pthread_mutex_t lock;
	struct item *item;	/* the current one */
	struct item items[2];
};

struct client {
	struct cache *cache;
	int requests;
};

static void item_add_one(struct item *item)
{
	int i = item->digits;

	while (i > 0 && item->text[i - 1] == '9')
		item->text[--i] = '0';
	if (i > 0) {
		item->text[i - 1]++;
	} else {
		item->text[item->digits++] = '0';
		item->text[0] = '1';
	}
}

/* Returns false, without an effect, if the item is not the current one. Needs the lock. */
static bool item_replace(struct cache *c, struct item *item, const struct item *value)
{
	if (c->item != item)
		return false;
	c->item = &c->items[1];
	*c->item = *value;
	return true;
}

static void item_increment(struct cache *c)
{
	struct item *item, value;
	bool stored = false;

	while (!stored) {
		pthread_mutex_lock(&c->lock);
		item = c->item;
		value = *item;
		item_add_one(&value);
		if (value.digits == item->digits) {
			*item = value;
			stored = true;
		} else {
			stored = item_replace(c, item, &value);
		}
		pthread_mutex_unlock(&c->lock);
	}
}

static void *serve(void *arg)
{
	struct client *client = arg;

	for (int i = 0; i < client->requests; i++)
		item_increment(client->cache);
	return NULL;
}

int main(void)
{
	static struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER, .items = { { 2, "96" } } };
	static struct client clients[2] = { { &cache, 2 }, { &cache, 1 } };
	pthread_t threads[2];

	cache.item = &cache.items[0];
	item_increment(&cache);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, &clients[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%s\n", cache.item->text);
	assert(strcmp(cache.item->text, "100") == 0);
	return 0;
}

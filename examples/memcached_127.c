/*
 * After the shape of a bug of memcached (127): a lost update that depends on the
 * value. Numbers are kept as text. A client reads the text, adds one, and writes the
 * text back: into the same item if it has as many digits as before, else into a new
 * item that replaces the old one unless another client was faster.
 *
 * Breaks when another client changes the item between the reading and the writing in
 * place of item_increment() (read, remote write, write): that change is lost. From 97
 * to 99 it can happen, from 99 to 100 it cannot. No data race. The twin reads and
 * writes in one critical section.
 *
 * Lesson: checking the rare path does not protect the common one.
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
		pthread_mutex_unlock(&c->lock);
		item_add_one(&value);
		pthread_mutex_lock(&c->lock);
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

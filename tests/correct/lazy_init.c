/*
 * Double-checked initialisation: a check without the lock, by an acquire load, then one with it.
 * Broken: the pointer is published before the object is complete.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
	int size;
	const char *name;
};

static struct config *_Atomic config;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made;

static struct config *get_config(void)
{
	struct config *c = atomic_load_explicit(&config, memory_order_acquire);

	if (c)
		return c;
	pthread_mutex_lock(&lock);
	c = atomic_load_explicit(&config, memory_order_relaxed);
	if (!c) {
		c = calloc(1, sizeof(*c));
#ifdef BROKEN
		atomic_store_explicit(&config, c, memory_order_release);
#endif
		c->size = 7;
		c->name = "seven";
		made++;
#ifndef BROKEN
		atomic_store_explicit(&config, c, memory_order_release);
#endif
	}
	pthread_mutex_unlock(&lock);
	return c;
}

static void *user(void *arg)
{
	const struct config *c = get_config();

	assert(c->size == 7);
	assert(c->name[0] == 's');
	return arg;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, user, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert(made == 1);
	free(get_config());
	return 0;
}

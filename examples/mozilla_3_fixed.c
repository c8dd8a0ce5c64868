/*
 * mozilla_3.c, repaired: a thread takes the pointer under the lock, and then frees it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct timer {
	int ticks;
};

struct component {
	pthread_mutex_t lock;
	struct timer *timer;	/* NULL once it is stopped */
	int users;
};

static atomic_int timers;

static struct timer *timer_new(void)
{
	struct timer *timer = calloc(1, sizeof(*timer));

	if (!timer)
		abort();
	atomic_fetch_add(&timers, 1);
	return timer;
}

static void timer_free(struct timer *timer)
{
	free(timer);
	atomic_fetch_sub(&timers, 1);
}

static void component_stop(struct component *c)
{
	struct timer *timer;

	pthread_mutex_lock(&c->lock);
	timer = c->timer;
	c->timer = NULL;
	pthread_mutex_unlock(&c->lock);
	if (timer)
		timer_free(timer);
}

static void *close_window(void *arg)
{
	struct component *c = arg;

	pthread_mutex_lock(&c->lock);
	c->users--;
	pthread_mutex_unlock(&c->lock);
	component_stop(c);
	return NULL;
}

int main(void)
{
	static struct component c = { .lock = PTHREAD_MUTEX_INITIALIZER, .users = 2 };
	pthread_t threads[2];

	c.timer = timer_new();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, close_window, &c);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d users, %d timers left\n", c.users, atomic_load(&timers));
	assert(c.users == 0);
	assert(atomic_load(&timers) == 0);
	return 0;
}

/*
 * After the shape of a bug of Mozilla's security component (Mozilla-3, 200119): two
 * threads shut it down, and each frees the timer if there is one.
 *
 * Breaks when the second thread reads `c->timer` in component_stop() before the
 * first has set it to NULL: both free it (read, remote write, write). The twin takes
 * the pointer under a lock, so that only one thread gets and frees it.
 *
 * Lesson: before a thread frees something, it makes sure that no other thread can.
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
	struct timer *timer = c->timer;

	if (timer) {
		c->timer = NULL;
		timer_free(timer);
	}
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

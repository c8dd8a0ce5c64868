/*
 * mozilla_9.c, repaired: `processing` is set before the semaphore is posted, so that a
 * request to stop always comes later.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

struct timer {
	pthread_mutex_t lock;
	pthread_cond_t notify;
	sem_t up;
	bool processing;
	int pending, fired;
};

static void timer_run(struct timer *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->processing) {
		t->fired += t->pending;
		t->pending = 0;
		pthread_cond_wait(&t->notify, &t->lock);
	}
	t->fired += t->pending;
	pthread_mutex_unlock(&t->lock);
}

static void timer_shutdown(struct timer *t)
{
	pthread_mutex_lock(&t->lock);
	t->processing = false;
	pthread_cond_signal(&t->notify);
	pthread_mutex_unlock(&t->lock);
}

static void timer_add(struct timer *t)
{
	pthread_mutex_lock(&t->lock);
	t->pending++;
	pthread_cond_signal(&t->notify);
	pthread_mutex_unlock(&t->lock);
}

static void *timer_main(void *arg)
{
	struct timer *t = arg;

	pthread_mutex_lock(&t->lock);
	t->processing = true;
	pthread_mutex_unlock(&t->lock);
	sem_post(&t->up);
	timer_run(t);
	return NULL;
}

static void *application(void *arg)
{
	struct timer *t = arg;

	sem_wait(&t->up);
	timer_add(t);
	timer_shutdown(t);
	return NULL;
}

int main(void)
{
	static struct timer t = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.notify = PTHREAD_COND_INITIALIZER,
	};
	pthread_t timers, app;

	sem_init(&t.up, 0, 0);
	pthread_create(&timers, NULL, timer_main, &t);
	pthread_create(&app, NULL, application, &t);
	pthread_join(timers, NULL);
	pthread_join(app, NULL);
	printf("%d timer fired\n", t.fired);
	return t.fired != 1;
}

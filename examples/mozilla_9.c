/*
 * After the shape of a bug of Mozilla's timer thread (Mozilla-9, 106009): neither a
 * data race nor a broken atomicity, only the wrong order. timer_run() begins by
 * noting that it is processing and goes on until timer_shutdown() clears that.
 *
 * Breaks when timer_shutdown() comes before timer_run(), between the sem_post() and
 * the lock of timer_main(): `processing = true` overwrites the request to stop, its
 * notification met no waiter, and the thread waits for ever. The twin sets `processing`
 * before it posts the semaphore.
 *
 * Lesson: a request to stop must be kept, even if it comes early.
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
	t->processing = true;
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

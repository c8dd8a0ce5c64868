/*
 * Locks, conditions and semaphores in blocks that are freed as soon as that is allowed: by the
 * thread that drops the last reference, after a destroy, after the last waiter was woken. No run
 * of it may fail. The wrong twin is freed_sync.c.
 */
#include "want.h"

#include <semaphore.h>
#include <stdatomic.h>

struct counted {
	pthread_mutex_t lock;
	int users;
};

/* The lock is released before the block is freed, by whoever was last in it. */
static void drop(struct counted *c)
{
	int left;

	pthread_mutex_lock(&c->lock);
	left = --c->users;
	pthread_mutex_unlock(&c->lock);
	if (left)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void *user(void *c)
{
	drop(c);
	return NULL;
}

static void reference_count(void)
{
	struct counted *c = calloc(1, sizeof(*c));
	pthread_t t;

	pthread_mutex_init(&c->lock, NULL);
	c->users = 2;
	t = start(user, c);
	drop(c);
	finish(t);
}

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

struct element {
	pthread_cond_t not_busy;
	int busy, waiting;
};

static void *waits(void *arg)
{
	struct element *e = arg;

	pthread_mutex_lock(&list);
	e->waiting = 1;
	if (e->busy)
		pthread_cond_wait(&e->not_busy, &list);
	pthread_mutex_unlock(&list);
	return NULL;
}

/* POSIX: a condition may be destroyed once its waiters are woken; they may not have returned. */
static void woken_waiter(void)
{
	struct element *e = calloc(1, sizeof(*e));
	pthread_t t;
	int waiting;

	pthread_cond_init(&e->not_busy, NULL);
	e->busy = 1;
	t = start(waits, e);
	do {
		pthread_mutex_lock(&list);
		waiting = e->waiting;
		if (!waiting)
			pthread_mutex_unlock(&list);
		sched_yield();
	} while (!waiting);
	e->busy = 0;
	pthread_cond_broadcast(&e->not_busy);
	pthread_cond_destroy(&e->not_busy);
	free(e);
	pthread_mutex_unlock(&list);
	finish(t);
}

struct request {
	sem_t done;
	int answer;
};

static void *answers(void *arg)
{
	struct request *r = arg;

	r->answer = 42;
	sem_post(&r->done);
	return NULL;
}

/* The waiter frees the semaphore as soon as it has it. */
static void posted(void)
{
	struct request *r = calloc(1, sizeof(*r));
	pthread_t t;

	sem_init(&r->done, 0, 0);
	t = start(answers, r);
	sem_wait(&r->done);
	want(r->answer, 42);
	sem_destroy(&r->done);
	free(r);
	finish(t);
}

struct round {
	pthread_barrier_t barrier;
	atomic_int left;
};

static void *meets(void *arg)
{
	struct round *r = arg;

	if (pthread_barrier_wait(&r->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
		pthread_barrier_destroy(&r->barrier);
		free(r);
	}
	return NULL;
}

/* The serial thread destroys the barrier, which waits until the other has left. */
static void barrier(void)
{
	struct round *r = calloc(1, sizeof(*r));
	pthread_t t;

	pthread_barrier_init(&r->barrier, NULL, 2);
	t = start(meets, r);
	meets(r);
	finish(t);
}

/* A lock that is destroyed and freed, and a new one in its place. */
static void again(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_rwlock_t *lock = calloc(1, sizeof(*lock));

		pthread_rwlock_init(lock, NULL);
		want(pthread_rwlock_wrlock(lock), 0);
		want(pthread_rwlock_unlock(lock), 0);
		pthread_rwlock_destroy(lock);
		free(lock);
	}
}

int main(void)
{
	reference_count();
	woken_waiter();
	posted();
	barrier();
	again();
	return 0;
}

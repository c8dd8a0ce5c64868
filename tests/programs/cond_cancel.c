/* A thread cancelled in pthread_cond_wait holds the mutex again when it unwinds. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t there, never;

static void want(int got, int expected)
{
	if (got != expected)
		abort();
}

static void let_go(void *mutex)
{
	want(pthread_mutex_unlock(mutex), 0);
}

static void *in_cond(void *arg)
{
	want(pthread_mutex_lock(&m), 0);
	pthread_cleanup_push(let_go, &m);
	want(sem_post(&there), 0);
	pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(1);
	return arg;
}

static void *in_sem(void *arg)
{
	sem_wait(&never);
	return arg;
}

static void end(pthread_t t)
{
	void *value;

	want(pthread_cancel(t), 0);
	want(pthread_join(t, &value), 0);
	want(value == PTHREAD_CANCELED, 1);
}

int main(void)
{
	pthread_t t;

	want(sem_init(&there, 0, 0), 0);
	want(sem_init(&never, 0, 0), 0);
	want(pthread_create(&t, NULL, in_cond, NULL), 0);
	want(sem_wait(&there), 0);
	want(pthread_mutex_lock(&m), 0);
	want(pthread_mutex_unlock(&m), 0);
	end(t);
	want(pthread_mutex_lock(&m), 0);
	want(pthread_mutex_unlock(&m), 0);
	want(pthread_create(&t, NULL, in_sem, NULL), 0);
	end(t);
	return 0;
}

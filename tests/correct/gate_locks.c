/*
 * Two locks taken in both orders, but only while a third one (the gate) is held; and accounts
 * locked in the order of their addresses. Broken: one of the moves skips the gate.
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

struct account {
	pthread_mutex_t lock;
	int balance;
};

static struct account a[3] = {
	{ PTHREAD_MUTEX_INITIALIZER, 10 },
	{ PTHREAD_MUTEX_INITIALIZER, 10 },
	{ PTHREAD_MUTEX_INITIALIZER, 10 },
};

static void move(struct account *from, struct account *to, int amount)
{
	pthread_mutex_lock(&from->lock);
	pthread_mutex_lock(&to->lock);
	from->balance -= amount;
	to->balance += amount;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

static void *forth(void *arg)
{
	pthread_mutex_lock(&gate);
	move(&a[0], &a[1], 3);
	pthread_mutex_unlock(&gate);
	move(&a[1], &a[2], 1);		/* ordered by address: needs no gate */
	return arg;
}

static void *back(void *arg)
{
#ifndef BROKEN
	pthread_mutex_lock(&gate);
#endif
	move(&a[1], &a[0], 2);
#ifndef BROKEN
	pthread_mutex_unlock(&gate);
#endif
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	/* The inverse move, before any other thread runs. */
	move(&a[2], &a[1], 1);
	pthread_create(&threads[0], NULL, forth, NULL);
	pthread_create(&threads[1], NULL, back, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	move(&a[2], &a[0], 1);
	assert(a[0].balance == 10 && a[1].balance == 11 && a[2].balance == 9);
	return 0;
}

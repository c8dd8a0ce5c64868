/*
 * Lost update. Each deposit locks, but reads the balance in one critical section
 * and writes it back in another: two threads may read the same old balance, and
 * one deposit is gone. No data race, so a race detector stays silent.
 *
 * Lesson: a lock protects what happens while it is held, not what was read before.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define DEPOSITS 3

static long balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long balance_get(void)
{
	long value;

	pthread_mutex_lock(&lock);
	value = balance;
	pthread_mutex_unlock(&lock);
	return value;
}

static void balance_set(long value)
{
	pthread_mutex_lock(&lock);
	balance = value;
	pthread_mutex_unlock(&lock);
}

static void *teller(void *arg)
{
	(void)arg;
	for (int i = 0; i < DEPOSITS; i++)
		balance_set(balance_get() + 10);
	return NULL;
}

int main(void)
{
	pthread_t tellers[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&tellers[i], NULL, teller, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], NULL);
	printf("balance %ld\n", balance);
	assert(balance == 2 * DEPOSITS * 10);
	return 0;
}

/*
 * bank.c, repaired: reading and writing back are one critical section.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define DEPOSITS 3

static long balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void balance_add(long amount)
{
	pthread_mutex_lock(&lock);
	balance += amount;
	pthread_mutex_unlock(&lock);
}

static void *teller(void *arg)
{
	(void)arg;
	for (int i = 0; i < DEPOSITS; i++)
		balance_add(10);
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

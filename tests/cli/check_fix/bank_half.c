/*
 * examples/bank.c, half repaired: one teller adds in one critical section; the other still reads
 * the balance in one and writes it back in another.
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

static void *night_teller(void *arg)
{
	(void)arg;
	for (int i = 0; i < DEPOSITS; i++)
		balance_set(balance_get() + 10);
	return NULL;
}

int main(void)
{
	pthread_t tellers[2];

	pthread_create(&tellers[0], NULL, teller, NULL);
	pthread_create(&tellers[1], NULL, night_teller, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], NULL);
	printf("balance %ld\n", balance);
	assert(balance == 2 * DEPOSITS * 10);
	return 0;
}

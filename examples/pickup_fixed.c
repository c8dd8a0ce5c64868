/*
 * pickup.c, repaired: a customer checks again after a wake-up, since another one may have
 * taken the parcel meanwhile, and then waits for the next one.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define CUSTOMERS 2

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int parcels;

static void *customer(void *arg)
{
	pthread_mutex_lock(&counter);
	while (parcels == 0)
		pthread_cond_wait(&arrived, &counter);
	parcels--;
	assert(parcels >= 0);
	pthread_mutex_unlock(&counter);
	return arg;
}

static void deliver(void)
{
	pthread_mutex_lock(&counter);
	parcels++;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&counter);
}

int main(void)
{
	pthread_t threads[CUSTOMERS];

	for (int i = 0; i < CUSTOMERS; i++)
		pthread_create(&threads[i], NULL, customer, NULL);
	for (int i = 0; i < CUSTOMERS; i++)
		deliver();
	for (int i = 0; i < CUSTOMERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d parcels left\n", parcels);
	return 0;
}

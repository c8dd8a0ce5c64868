/*
 * An account that three threads change, one of them under a lock. FIXED is the number of other
 * threads that take the lock, too.
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long balance = 100;

static void *interest(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	balance += 10;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *deposit(void *arg)
{
	(void)arg;
	if (FIXED >= 1)
		pthread_mutex_lock(&lock);
	balance += 5;
	if (FIXED >= 1)
		pthread_mutex_unlock(&lock);
	return NULL;
}

static void *payout(void *arg)
{
	(void)arg;
	if (FIXED >= 2)
		pthread_mutex_lock(&lock);
	balance -= 7;
	if (FIXED >= 2)
		pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	void *(*const start[])(void *) = { interest, deposit, payout };
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, start[i], NULL) != 0)
			return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	assert(balance == 108);
	return 0;
}

/* Two threads that sell from one stock. -DMOVED adds lines and a function before the code. */
#include <pthread.h>
#ifdef MOVED
#include <stdlib.h>


static int unused_before(int x)
{
	return abs(x);
}
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stock = 100, sold;

static void *sell(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		if (stock > 0)
			stock = stock - 1;
		pthread_mutex_unlock(&lock);
		sold = sold + 1;
	}
	return arg;
}

int main(void)
{
	pthread_t other;

#ifdef MOVED
	if (unused_before(-1) != 1)
		return 1;
#endif
	pthread_create(&other, NULL, sell, NULL);
	sell(NULL);
	pthread_join(other, NULL);
	return 0;
}

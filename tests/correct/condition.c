/* options: --spurious */
/*
 * Conditions waited for in a loop: spurious wake-ups, wake-ups stolen by another thread, and a
 * signal before any thread waits do no harm. Broken: `if` instead of `while`.
 */
#include <assert.h>
#include <pthread.h>

#define ITEMS 3

#ifdef BROKEN
#define UNTIL if
#else
#define UNTIL while
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int slot, taken;		/* slot 0: empty */

static void *producer(void *arg)
{
	for (int i = 1; i <= ITEMS; i++) {
		pthread_mutex_lock(&lock);
		while (slot)
			pthread_cond_wait(&emptied, &lock);
		slot = i;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void *consumer(void *arg)
{
	int *sum = arg;

	pthread_mutex_lock(&lock);
	while (taken < ITEMS) {
		UNTIL (!slot && taken < ITEMS)
			pthread_cond_wait(&filled, &lock);
		if (taken == ITEMS)
			break;
		assert(slot == taken + 1);
		*sum += slot;
		slot = 0;
		if (++taken == ITEMS)
			pthread_cond_broadcast(&filled);
		pthread_cond_signal(&emptied);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t threads[3];
	int sums[2] = { 0, 0 };

	pthread_create(&threads[0], NULL, producer, NULL);
	pthread_create(&threads[1], NULL, consumer, &sums[0]);
	pthread_create(&threads[2], NULL, consumer, &sums[1]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert(sums[0] + sums[1] == 6);
	return 0;
}

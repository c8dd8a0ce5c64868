/*
 * Mutual exclusion from loads and stores alone, all sequentially consistent (Peterson 1981).
 * Broken: the turn is given away before the thread raises its flag.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 2

static atomic_int wants[2], turn;
static int count, inside;

static void lock(int me)
{
#ifdef BROKEN
	atomic_store(&turn, 1 - me);
	atomic_store(&wants[me], 1);
#else
	atomic_store(&wants[me], 1);
	atomic_store(&turn, 1 - me);
#endif
	while (atomic_load(&wants[1 - me]) && atomic_load(&turn) != me)
		;
}

static void unlock(int me)
{
	atomic_store(&wants[me], 0);
}

static void *worker(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < ROUNDS; i++) {
		lock(me);
		inside++;
		assert(inside == 1);
		count++;
		inside--;
		unlock(me);
	}
	return arg;
}

int main(void)
{
	int number[2] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, &number[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(count == 2 * ROUNDS);
	return 0;
}

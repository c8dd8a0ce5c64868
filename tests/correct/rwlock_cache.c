/*
 * A cache that is mostly read: look-ups share the lock; a miss takes it exclusively and checks
 * again before it writes. Broken: it does not check again.
 */
#include <assert.h>
#include <pthread.h>

#define KEYS 2
#define SLOTS 4

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int keys[SLOTS], values[SLOTS], used;

static int find(int key)
{
	for (int i = 0; i < used; i++)
		if (keys[i] == key)
			return values[i];
	return -1;
}

static int get(int key)
{
	int value;

	pthread_rwlock_rdlock(&lock);
	value = find(key);
	pthread_rwlock_unlock(&lock);
	if (value >= 0)
		return value;
	pthread_rwlock_wrlock(&lock);
#ifndef BROKEN
	value = find(key);
#endif
	if (value < 0) {
		assert(used < SLOTS);
		value = key * key;
		keys[used] = key;
		values[used] = value;
		used++;
	}
	pthread_rwlock_unlock(&lock);
	return value;
}

static void *worker(void *arg)
{
	for (int key = 1; key <= KEYS; key++)
		for (int again = 0; again < 2; again++)
			assert(get(key) == key * key);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(used == KEYS);
	return 0;
}

/*
 * A handle that is checked and then used, while two other threads may close it.
 *
 * FIXED 0: no thread locks. 1: the user and one of the closing threads lock. 2: all lock.
 */
#include <pthread.h>
#include <stdio.h>

struct handle {
	int reads;
};

static struct handle file;
static struct handle *volatile handle = &file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *arg)
{
	(void)arg;
	if (FIXED > 0)
		pthread_mutex_lock(&lock);
	if (handle)
		handle->reads++;
	if (FIXED > 0)
		pthread_mutex_unlock(&lock);
	return NULL;
}

static void *close_idle(void *arg)
{
	(void)arg;
	if (FIXED > 0)
		pthread_mutex_lock(&lock);
	handle = NULL;
	if (FIXED > 0)
		pthread_mutex_unlock(&lock);
	return NULL;
}

static void *close_all(void *arg)
{
	(void)arg;
	if (FIXED > 1)
		pthread_mutex_lock(&lock);
	handle = NULL;
	if (FIXED > 1)
		pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	void *(*const what[])(void *) = { use, close_idle, close_all };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, what[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%d reads\n", file.reads);
	return 0;
}

/*
 * fails: uaf, under some schedules: no other thread ever accessed the field that is used after the
 * free; one only freed it. Use in reader(), free in owner(), malloc in main().
 */
#include <pthread.h>
#include <stdlib.h>

struct item {
	long head, value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *item;

static void *reader(void *unused)
{
	volatile long value = 0;
	struct item *mine;

	pthread_mutex_lock(&lock);
	mine = item;
	pthread_mutex_unlock(&lock);
	if (mine)
		value = mine->value;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return value ? NULL : unused;
}

static void *owner(void *unused)
{
	pthread_mutex_lock(&lock);
	free(item);
	item = NULL;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	item = calloc(1, sizeof(*item));
	if (!item)
		return 2;
	if (pthread_create(&a, NULL, reader, NULL) != 0 ||
	    pthread_create(&b, NULL, owner, NULL) != 0)
		return 2;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}

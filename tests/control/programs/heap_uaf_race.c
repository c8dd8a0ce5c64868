/*
 * fails: uaf, under some schedules: the reader checks that the block is there, and
 * uses it after the owner has freed it. Use in reader(), free in owner(), malloc in
 * main().
 */
#include <pthread.h>
#include <stdlib.h>

struct item {
	int value;
};

static struct item *item;

static void *reader(void *sum)
{
	if (item)
		*(int *)sum += item->value;
	return NULL;
}

static void *owner(void *unused)
{
	struct item *old = item;

	item = NULL;
	free(old);
	return unused;
}

int main(void)
{
	pthread_t a, b;
	int sum = 0;

	item = malloc(sizeof(*item));
	if (!item)
		return 2;
	item->value = 1;
	if (pthread_create(&a, NULL, reader, &sum) != 0 ||
	    pthread_create(&b, NULL, owner, NULL) != 0)
		return 2;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}

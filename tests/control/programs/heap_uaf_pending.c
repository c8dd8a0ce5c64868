/*
 * fails: uaf, under every schedule that lets owner() free before reader() reads, also if the reader
 * already stood before its read. Exit status 42 means that a use after free was missed; no schedule
 * may give it.
 */
#include <pthread.h>
#include <stdlib.h>

#define UNSEEN __attribute__((no_sanitize("thread"), noinline))

static volatile int freed;

static UNSEEN void set_freed(void)
{
	freed = 1;
}

static UNSEEN int is_freed(void)
{
	return freed;
}

static void *reader(void *p)
{
	int value = *(volatile int *)p;

	if (is_freed())
		_Exit(42);
	return value ? p : NULL;
}

static void *owner(void *p)
{
	free(p);
	set_freed();
	return NULL;
}

int main(void)
{
	int *p = malloc(sizeof(*p));
	pthread_t a, b;

	if (!p)
		return 2;
	*p = 1;
	if (pthread_create(&a, NULL, reader, p) != 0 || pthread_create(&b, NULL, owner, p) != 0)
		return 2;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}

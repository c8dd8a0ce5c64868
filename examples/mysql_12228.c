/*
 * MySQL bug 12228: a stored procedure dropped while it is about to be executed. Callers
 * find it in a cache (a) and execute it (c); dropping it takes it out of the cache and
 * frees it (b).
 *
 * The cache has a lock, but a procedure found in it is used after the lock is released. With
 * (b) between (a) and (c) a caller executes a freed procedure: a use after free that
 * calls through a NULL or a wild pointer and crashes.
 *
 * The repaired twin holds the lock (for reading) until the procedure has returned.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS 3

struct procedure {
	int (*body)(int);
	int result;
};

static struct procedure *cache;	/* has room for one procedure */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int calls;
static int missing;

static int square(int number)
{
	return number * number;
}

static struct procedure *procedure_find(void)
{
	struct procedure *found;

	pthread_rwlock_rdlock(&lock);
	found = cache;			/* (a) */
	pthread_rwlock_unlock(&lock);
	return found;
}

static void procedure_call(int argument)
{
	struct procedure *procedure = procedure_find();

	if (procedure) {
		procedure->result = procedure->body(argument);	/* (c) */
		calls++;
	} else {
		missing++;
	}
}

static void procedure_drop(void)
{
	struct procedure *procedure;

	pthread_rwlock_wrlock(&lock);
	procedure = cache;
	cache = NULL;
	procedure->body = NULL;		/* (b) */
	pthread_rwlock_unlock(&lock);
	free(procedure);
}

static void *caller(void *arg)
{
	(void)arg;
	for (int i = 1; i < CALLS; i++)
		procedure_call(i);
	return NULL;
}

static void *dropper(void *arg)
{
	(void)arg;
	procedure_drop();
	return NULL;
}

int main(void)
{
	pthread_t calling, dropping;

	cache = malloc(sizeof(*cache));
	if (!cache)
		return 1;
	*cache = (struct procedure){ square, 0 };
	procedure_call(0);
	pthread_create(&calling, NULL, caller, NULL);
	pthread_create(&dropping, NULL, dropper, NULL);
	pthread_join(calling, NULL);
	pthread_join(dropping, NULL);
	printf("%d calls answered\n", calls + missing);
	return 0;
}

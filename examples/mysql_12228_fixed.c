/*
 * mysql_12228.c, repaired: the lock of the cache is held until the procedure has returned.
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

/* Called with the lock held; the result is valid as long as it is held. */
static struct procedure *procedure_find(void)
{
	return cache;
}

static void procedure_call(int argument)
{
	struct procedure *procedure;

	pthread_rwlock_rdlock(&lock);
	procedure = procedure_find();
	if (procedure) {
		procedure->result = procedure->body(argument);
		calls++;
	} else {
		missing++;
	}
	pthread_rwlock_unlock(&lock);
}

static void procedure_drop(void)
{
	struct procedure *procedure;

	pthread_rwlock_wrlock(&lock);
	procedure = cache;
	cache = NULL;
	procedure->body = NULL;
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

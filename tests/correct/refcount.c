/*
 * The thread that drops the last reference frees the object. Broken: the count goes down in two
 * steps.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define USERS 3

struct object {
	atomic_int users;
	int value;
};

static atomic_int freed;

static int drop_one(struct object *o)
{
#ifdef BROKEN
	int left = atomic_load(&o->users) - 1;

	atomic_store(&o->users, left);
	return left;
#else
	return atomic_fetch_sub_explicit(&o->users, 1, memory_order_acq_rel) - 1;
#endif
}

static void *user(void *arg)
{
	struct object *o = arg;

	assert(o->value == 42);
	if (drop_one(o) == 0) {
		atomic_fetch_add(&freed, 1);
		o->value = 0;
		free(o);
	}
	return NULL;
}

int main(void)
{
	struct object *o = malloc(sizeof(*o));
	pthread_t threads[USERS];

	o->value = 42;
	atomic_init(&o->users, USERS);
	for (int i = 0; i < USERS; i++)
		pthread_create(&threads[i], NULL, user, o);
	for (int i = 0; i < USERS; i++)
		pthread_join(threads[i], NULL);
	assert(freed == 1);
	return 0;
}

/*
 * apache_21287.c, repaired: decrementing and checking the count are one atomic step.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 16

struct object {
	atomic_int refcount;	/* each decrement pairs with the last one */
	atomic_int served;
	char *body;
};

static struct object object;

static void object_cleanup(struct object *o)
{
	assert(o->body);
	free(o->body);
	o->body = NULL;
}

static void object_put(struct object *o)
{
	if (atomic_fetch_sub(&o->refcount, 1) == 1)
		object_cleanup(o);
}

static void *serve(void *arg)
{
	struct object *o = arg;
	int sent = 0;

	for (int i = 0; i < LENGTH; i += 4)
		sent += o->body[i];
	atomic_fetch_add(&o->served, sent);
	object_put(o);
	return NULL;
}

int main(void)
{
	pthread_t first, second;

	object.body = malloc(LENGTH);
	if (!object.body)
		return 1;
	for (int i = 0; i < LENGTH; i++)
		object.body[i] = 1;
	atomic_init(&object.refcount, 2);
	pthread_create(&first, NULL, serve, &object);
	pthread_create(&second, NULL, serve, &object);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	assert(!object.body);
	printf("%d served\n", object.served);
	return 0;
}

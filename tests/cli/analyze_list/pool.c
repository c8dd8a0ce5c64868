/* floor 0; bug: atomicity|atomicity2|race left */
/*
 * Threads borrow buffers from a pool and give them back.
 * BROKEN: whether a buffer is left is asked before the critical section that takes it.
 */
#include <pthread.h>
#include <stdlib.h>

#define BUFFERS 4
#define ROUNDS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *stack[BUFFERS];
static int left;
#ifndef BROKEN
static int misses;
#endif

#ifdef BROKEN
static int is_any_left(void)
{
	int any;

	pthread_mutex_lock(&lock);
	any = left > 0;
	pthread_mutex_unlock(&lock);
	return any;
}
#endif

static char *borrow(void)
{
	char *buffer = NULL;

#ifdef BROKEN
	if (!is_any_left())
		return NULL;
	pthread_mutex_lock(&lock);
	buffer = stack[--left];	/* bug */
#else
	pthread_mutex_lock(&lock);
	if (left > 0)
		buffer = stack[--left];
	else
		misses++;
#endif
	pthread_mutex_unlock(&lock);
	return buffer;
}

static void give_back(char *buffer)
{
	pthread_mutex_lock(&lock);
	stack[left++] = buffer;
	pthread_mutex_unlock(&lock);
}

static void *user(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *a = borrow(), *b = borrow();

		if (a)
			a[0] = (char)i;
		if (b)
			b[1] = (char)(i + (a ? a[0] : 0));
		if (b)
			give_back(b);
		if (a)
			give_back(a);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < BUFFERS; i++)
		give_back(calloc(1, 16));
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, user, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < left; i++)
		free(stack[i]);
	return left != BUFFERS;
}

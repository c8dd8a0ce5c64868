/*
 * inversion.c, repaired: the lower address is always locked first.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct shelf {
	pthread_mutex_t lock;
	int books;
};

static struct shelf left = { PTHREAD_MUTEX_INITIALIZER, 5 };
static struct shelf right = { PTHREAD_MUTEX_INITIALIZER, 5 };

static void move(struct shelf *from, struct shelf *to)
{
	struct shelf *low = (uintptr_t)from < (uintptr_t)to ? from : to;
	struct shelf *high = low == from ? to : from;

	pthread_mutex_lock(&low->lock);
	pthread_mutex_lock(&high->lock);
	from->books--;
	to->books++;
	pthread_mutex_unlock(&high->lock);
	pthread_mutex_unlock(&low->lock);
}

static void *to_right(void *arg)
{
	(void)arg;
	move(&left, &right);
	return NULL;
}

static void *to_left(void *arg)
{
	(void)arg;
	move(&right, &left);
	return NULL;
}

int main(void)
{
	pthread_t first, second;

	pthread_create(&first, NULL, to_right, NULL);
	pthread_create(&second, NULL, to_left, NULL);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("%d books\n", left.books + right.books);
	return 0;
}

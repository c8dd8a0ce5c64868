/*
 * Lock order inversion. One thread locks left then right, the other right then
 * left; if each gets its first lock, both wait for ever.
 *
 * Lesson: locks taken together need one order, whatever the arguments are called.
 */
#include <pthread.h>
#include <stdio.h>

struct shelf {
	pthread_mutex_t lock;
	int books;
};

static struct shelf left = { PTHREAD_MUTEX_INITIALIZER, 5 };
static struct shelf right = { PTHREAD_MUTEX_INITIALIZER, 5 };

static void move(struct shelf *from, struct shelf *to)
{
	pthread_mutex_lock(&from->lock);
	pthread_mutex_lock(&to->lock);
	from->books--;
	to->books++;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
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

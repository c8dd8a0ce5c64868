/*
 * A thread accesses a variable several times in a row, and another thread comes in between.
 *
 *   streak good     the other thread comes afterwards
 *   streak a|b|c    a: it writes before the first one's write; b: it writes before its read;
 *                   c: it reads before its last write
 */
#include <pthread.h>
#include <semaphore.h>

static long v;
static volatile long seen;
static char between;
static sem_t go, back;

static void step(char which)
{
	if (between != which)
		return;
	sem_post(&go);
	sem_wait(&back);
}

static void *one(void *arg)
{
	long value;

	v = 1;			/* begin */
	for (int i = 0; i < 3; i++) {
		v = v + 1;		/* more */
		step(0);
	}
	value = v;		/* read */
	step('a');
	v = value + 1;		/* write */
	step('b');
	value = v;		/* again */
	step('c');
	v = value + 2;		/* last */
	step('g');
	return arg;
}

static void *other(void *arg)
{
	sem_wait(&go);
	if (between != 'c')
		v = 10;			/* other write */
	if (between != 'c')
		sem_post(&back);	/* a call after which the compiler must assume that v
					 * changed */
	if (between == 'c' || between == 'g')
		seen = v;		/* other read */
	if (between == 'c')
		sem_post(&back);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t first, second;

	between = argc > 1 ? argv[1][0] : 'g';
	sem_init(&go, 0, 0);
	sem_init(&back, 0, 0);
	pthread_create(&first, NULL, one, NULL);
	pthread_create(&second, NULL, other, NULL);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	return 0;
}

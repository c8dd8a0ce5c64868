/*
 * Two threads, three variables. The read and write of x can be broken apart by the other thread;
 * those of y come before all its accesses; those of z are in one critical section. The order of
 * threads is forced by atomics, which analyses do not take for synchronisation.
 *
 *   pairs good         the other thread writes afterwards
 *   pairs x|y          it writes x, or y, in between
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static long x, y, z;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static atomic_int turn;
static char between;

static void wait_for(int what)
{
	while (atomic_load(&turn) < what)
		;
}

static void let(int what)
{
	atomic_store(&turn, what);
	if (between)
		wait_for(what + 1);
}

static void *one(void *unused)
{
	long value = x;			/* x read */

	(void)unused;
	if (between == 'x')
		let(1);
	x = value + 1;			/* x write */
	pthread_mutex_lock(&lock);
	value = z;			/* z read */
	z = value + 1;			/* z write */
	pthread_mutex_unlock(&lock);
	value = y;			/* y read */
	if (between == 'y')
		let(1);
	y = value + 1;			/* y write */
	atomic_store(&turn, 3);
	sem_post(&done);
	return NULL;
}

static void *other(void *unused)
{
	(void)unused;
	if (between != 'y')
		wait_for(between ? 1 : 3);
	else
		sem_wait(&done);
	x = 10;				/* x other */
	if (between == 'x')
		atomic_store(&turn, 2);
	pthread_mutex_lock(&lock);
	z = 10;				/* z other */
	pthread_mutex_unlock(&lock);
	if (between != 'y')
		sem_wait(&done);
	y = 10;				/* y other */
	if (between == 'y')
		atomic_store(&turn, 2);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t first, second;

	between = argc > 1 && strcmp(argv[1], "good") != 0 ? argv[1][0] : 0;
	sem_init(&done, 0, between == 'y');
	pthread_create(&first, NULL, one, NULL);
	if (between == 'y')
		wait_for(1);
	pthread_create(&second, NULL, other, NULL);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	return 0;
}

/*
 * Two threads that alternate: semaphores leave them one order, with and without control. Globals, a
 * heap block, an atomic, a lock, and a range.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static sem_t turn[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, y;
static char text[64];
static volatile int *volatile block;
static atomic_int count;

static void *play(void *arg)
{
	int me = *(int *)arg;

	for (int round = 0; round < 3; round++) {
		sem_wait(&turn[me]);
		if (me == 0) {
			x = x + 1;
			free((void *)block);
			block = malloc(sizeof(*block));
			*block = round;
			memset(text, round, sizeof(text));
		} else {
			y = x + *block;
			*block = y;
		}
		atomic_fetch_add(&count, 1);
		pthread_mutex_lock(&lock);
		y = y + text[me];
		pthread_mutex_unlock(&lock);
		sem_post(&turn[!me]);
	}
	return NULL;
}

int main(void)
{
	int number[2] = { 0, 1 };
	pthread_t thread[2];

	sem_init(&turn[0], 0, 1);
	sem_init(&turn[1], 0, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, play, &number[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	free((void *)block);
	return y == 0;
}

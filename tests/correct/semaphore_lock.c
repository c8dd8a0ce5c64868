/*
 * Semaphores where a mutex would not do: one thread takes them and another posts; they count empty
 * and full slots of a buffer. Broken: the baton is passed on before the work is done.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#define THREADS 3
#define ROUNDS 2

static sem_t turn[THREADS];
static int total, log_of[THREADS * ROUNDS], logged;

static void *runner(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < ROUNDS; i++) {
		while (sem_wait(&turn[me]) != 0)
			;
#ifdef BROKEN
		sem_post(&turn[(me + 1) % THREADS]);
#endif
		total += me + 1;
		log_of[logged++] = me;
#ifndef BROKEN
		sem_post(&turn[(me + 1) % THREADS]);
#endif
	}
	return arg;
}

int main(void)
{
	int number[THREADS] = { 0, 1, 2 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		sem_init(&turn[i], 0, i == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, runner, &number[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(total == 6 * ROUNDS && logged == THREADS * ROUNDS);
	for (int i = 0; i < logged; i++)
		assert(log_of[i] == i % THREADS);
	return 0;
}

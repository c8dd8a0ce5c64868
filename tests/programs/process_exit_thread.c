/* exit() in a thread while another waits for ever. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t never, ready;

static void *waiting(void *unused)
{
	sem_post(&ready);
	sem_wait(&never);
	return unused;
}

static void *leaving(void *unused)
{
	sem_wait(&ready);
	exit(3);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	sem_init(&never, 0, 0);
	sem_init(&ready, 0, 0);
	pthread_create(&a, NULL, waiting, NULL);
	pthread_create(&b, NULL, leaving, NULL);
	pthread_join(b, NULL);
	return 9;
}

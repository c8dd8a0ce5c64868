/* Variables on the stacks of main and of a thread, used by both. */
#include <pthread.h>
#include <semaphore.h>

static sem_t there, seen;
static int *theirs;

static void *work(void *arg)
{
	int mine = 1;

	++*(int *)arg;
	theirs = &mine;
	sem_post(&there);
	sem_wait(&seen);
	return mine == 2 ? arg : NULL;
}

int main(void)
{
	pthread_t thread;
	void *value;
	int mine = 0;

	sem_init(&there, 0, 0);
	sem_init(&seen, 0, 0);
	pthread_create(&thread, NULL, work, &mine);
	sem_wait(&there);
	++*theirs;
	sem_post(&seen);
	pthread_join(thread, &value);
	return value == &mine && mine == 1 ? 0 : 1;
}

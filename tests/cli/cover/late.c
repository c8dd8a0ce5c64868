/*
 * Ways to end while threads run; and memory that is shared late: main's last access to `late`
 * before that is unknown, and no dependency may be invented.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t begun;
static volatile int late, noise[64];

static void *take(void *arg)
{
	late = late + 1;
	return arg;
}

static void *run(void *arg)
{
	sem_post(&begun);
	for (unsigned i = 0;; i++)
		noise[i % 64] = noise[(i + 1) % 64];
	return arg;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(way, "late") == 0) {
		late = 1;
		for (int i = 0; i < 1000; i++)
			late = late + i;
		late = 2;
		pthread_create(&thread, NULL, take, NULL);
		pthread_join(thread, NULL);
		return late != 3;
	}
	sem_init(&begun, 0, 0);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, run, NULL);
		sem_wait(&begun);
	}
	if (strcmp(way, "fork") == 0 && fork() == 0) {
		noise[0] = 1;
		exit(0);
	}
	if (strcmp(way, "fork") == 0)
		wait(NULL);
	if (strcmp(way, "_exit") == 0)
		_exit(0);
	if (strcmp(way, "abort") == 0)
		abort();
	return 0;
}

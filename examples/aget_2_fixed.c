/*
 * aget_2.c, repaired: a thread that holds the console cannot be cancelled.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

struct aget {
	pthread_t signal_thread;
	sem_t up;	/* posted when the signal thread runs */
	sem_t signals;
	pthread_mutex_t console;
	const char *line;	/* what the console shows */
};

static void console_print(struct aget *a, const char *line)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&a->console);
	a->line = line;
	pthread_testcancel();	/* a cancellation point, as in write(2) */
	pthread_mutex_unlock(&a->console);
	pthread_setcancelstate(state, NULL);
}

static void *wait_for_signals(void *arg)
{
	struct aget *a = arg;

	sem_post(&a->up);
	console_print(a, "ctrl-c to interrupt");
	while (sem_wait(&a->signals) == 0)
		console_print(a, "interrupted");
	return NULL;
}

static void *download(void *arg)
{
	struct aget *a = arg;

	sem_wait(&a->up);
	pthread_cancel(a->signal_thread);
	console_print(a, "download complete");
	return NULL;
}

int main(void)
{
	static struct aget a = { .console = PTHREAD_MUTEX_INITIALIZER };
	pthread_t downloader;

	sem_init(&a.up, 0, 0);
	sem_init(&a.signals, 0, 0);
	pthread_create(&a.signal_thread, NULL, wait_for_signals, &a);
	pthread_create(&downloader, NULL, download, &a);
	pthread_join(a.signal_thread, NULL);
	pthread_join(downloader, NULL);
	printf("the end\n");
	return 0;
}

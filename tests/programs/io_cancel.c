/* A thread cancelled in read(): the call ends as unwound, the cleanup handler runs. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void clean(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&m);
}

static void *reader(void *unused)
{
	char c;

	pthread_mutex_lock(&m);
	pthread_cleanup_push(clean, NULL);
	(void)!read(ends[0], &c, 1);
	pthread_cleanup_pop(1);
	return unused;
}

int main(void)
{
	pthread_t thread;
	void *result;

	if (pipe(ends) != 0 || pthread_create(&thread, NULL, reader, NULL) != 0)
		return 9;
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		return 9;
	/* The cleanup handler unlocked it. */
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return 0;
}

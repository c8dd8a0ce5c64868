/* _exit runs no handlers, and no events are lost. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void never(void)
{
	pthread_mutex_lock(&m);
}

int main(void)
{
	atexit(never);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	_exit(5);
}

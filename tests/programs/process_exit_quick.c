/* quick_exit runs its own handlers; they are recorded too. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void last(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
}

int main(void)
{
	at_quick_exit(last);
	quick_exit(4);
}

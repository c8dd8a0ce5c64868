/*
 * pthread_exit() from main: cleanup handlers and destructors run at once, the other threads go on,
 * and the process exits with 0 when the last of them ends.
 */
#include "want.h"

#include <stdatomic.h>

static pthread_t main_thread;
static pthread_key_t key;
static atomic_int cleaned, destroyed, worked;

static void clean(void *arg)
{
	want((long)arg, 5);
	cleaned = 1;
}

static void destroy(void *value)
{
	want((long)value, 6);
	destroyed = 1;
}

static void *works(void *arg)
{
	void *result;

	want(pthread_join(main_thread, &result), 0);
	want((long)result, 77);
	want(cleaned, 1);
	want(destroyed, 1);
	worked = 1;
	return arg;
}

static void at_the_end(void)
{
	want(worked, 1);
	puts("last");
}

int main(void)
{
	main_thread = pthread_self();
	want(atexit(at_the_end), 0);
	want(pthread_key_create(&key, destroy), 0);
	want(pthread_setspecific(key, (void *)6L), 0);
	start(works, NULL);
	pthread_cleanup_push(clean, (void *)5L);
	pthread_exit((void *)77L);
	pthread_cleanup_pop(0);
}

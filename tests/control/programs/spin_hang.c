/*
 * slow: with kernel threads, there are many switches
 * fails: hang. Two threads wait for a value that no thread ever writes.
 */
#include "want.h"

#include <stdatomic.h>

static atomic_int never;

static void *looks(void *arg)
{
	while (!atomic_load(&never))
		;
	return arg;
}

int main(void)
{
	pthread_t t = start(looks, NULL);

	looks(NULL);
	finish(t);
	return 0;
}

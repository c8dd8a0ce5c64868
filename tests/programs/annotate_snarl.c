/* The annotations of snarl.h. */
#include <pthread.h>
#include <stdlib.h>

#include "../../include/snarl.h"

static int flag, counter;

static void *worker(void *arg)
{
	SNARL_HAPPENS_AFTER(&flag);
	SNARL_BLOCK_BEGIN("update");
	SNARL_BLOCK_BEGIN("inner");
	counter++;
	SNARL_BLOCK_END();
	SNARL_BLOCK_END();
	SNARL_IGNORE_BEGIN();
	counter++;
	SNARL_IGNORE_END();
	return arg;
}

int main(void)
{
	pthread_t t;

	SNARL_BENIGN_RACE(&counter);
	SNARL_HAPPENS_BEFORE(&flag);
	if (pthread_create(&t, NULL, worker, NULL))
		abort();
	pthread_join(t, NULL);
	return 0;
}

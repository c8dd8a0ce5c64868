/* More threads than snarl supports. */
#include "hostile.h"

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < 1500; i++)
		if (pthread_create(&t, NULL, wait_for_ever, NULL) != 0)
			break;
	threads();
	return 0;
}

/* A thread ends the process while others run. */
#include "hostile.h"

static void *leave(void *arg)
{
	_exit(arg != NULL);
}

int main(void)
{
	pthread_t t;

	threads();
	pthread_create(&t, NULL, leave, NULL);
	threads();
	pthread_join(t, NULL);
	return 0;
}

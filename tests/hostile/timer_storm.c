/* A signal every 10 microseconds. */
#include "hostile.h"

static void nothing(int sig)
{
	(void)sig;
}

int main(void)
{
	struct itimerval often = { { 0, 10 }, { 0, 10 } };
	struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART };

	threads();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (volatile int i = 0; i < 10000000; i++)
		;
	threads();
	return 0;
}

/* A crash whose handler never returns. */
#include "hostile.h"

static void loop(int sig)
{
	for (volatile int i = sig; i; i |= 1)
		;
}

int main(void)
{
	threads();
	signal(SIGSEGV, loop);
	*(volatile int *)16 = 1;
	threads();
	return 0;
}

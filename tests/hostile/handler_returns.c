/* A crash whose handler returns to the instruction that crashes. */
#include "hostile.h"

static void nothing(int sig)
{
	(void)sig;
}

int main(void)
{
	threads();
	signal(SIGSEGV, nothing);
	*(volatile int *)16 = 1;
	threads();
	return 0;
}

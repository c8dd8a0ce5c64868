/* Blocks and ignores all signals, and spins. */
#include "hostile.h"

int main(void)
{
	sigset_t all;

	threads();
	sigfillset(&all);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (volatile int i = 1; i; i |= 1)
		;
	threads();
	return 0;
}

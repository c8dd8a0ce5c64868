/* Stops itself. */
#include "hostile.h"

int main(void)
{
	threads();
	kill(getpid(), SIGSTOP);
	threads();
	return 0;
}

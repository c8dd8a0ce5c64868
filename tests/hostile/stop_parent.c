/* Stops its parent, the fork server, or snarl itself without one. */
#include "hostile.h"

int main(void)
{
	threads();
	kill(getppid(), SIGSTOP);
	usleep(1000);
	threads();
	return 0;
}

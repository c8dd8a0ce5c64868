/* Kills its parent by a raw system call. */
#include "hostile.h"

int main(void)
{
	threads();
	syscall(SYS_kill, getppid(), SIGKILL);
	for (;;)
		pause();
	threads();
	return 0;
}

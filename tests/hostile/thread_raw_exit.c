/* The main thread ends by a raw system call, which ends the thread only. */
#include "hostile.h"

int main(void)
{
	threads();
	syscall(SYS_exit, 0);
	threads();
	return 0;
}

/* Ends by a raw system call. */
#include "hostile.h"

int main(void)
{
	threads();
	syscall(SYS_exit_group, 0);
	threads();
	return 0;
}

/* Closes all descriptors by close_range(). */
#include "hostile.h"

int main(void)
{
	threads();
	syscall(SYS_close_range, 0u, ~0u, 0u);
	threads();
	return 0;
}

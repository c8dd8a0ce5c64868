/* Prints without end, in a process that outlives the run. */
#include "hostile.h"

static char block[1 << 16];

int main(void)
{
	threads();
	if (fork() == 0) {
		setsid();
		for (;;)
			if (write(1, block, sizeof(block)) < 0)
				_exit(0);
	}
	threads();
	return 0;
}

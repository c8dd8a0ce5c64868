/* A process forks a successor and ends, again and again. */
#include "hostile.h"

int main(void)
{
	threads();
	if (fork() == 0)
		for (;;)
			if (fork() != 0)
				_exit(0);
	threads();
	return 0;
}

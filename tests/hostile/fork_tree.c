/* 128 processes that wait for ever. */
#include "hostile.h"

int main(void)
{
	pid_t first = getpid();

	threads();
	for (int i = 0; i < 7; i++)
		fork();
	if (getpid() != first)
		for (;;)
			pause();
	threads();
	return 0;
}

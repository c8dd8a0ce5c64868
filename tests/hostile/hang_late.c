/* Never returns from a destructor. */
#include "hostile.h"

__attribute__((destructor)) static void harm(void)
{
	for (;;)
		pause();
}

int main(void)
{
	threads();
	return 0;
}

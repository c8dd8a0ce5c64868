/* Never comes to main. */
#include "hostile.h"

__attribute__((constructor)) static void harm(void)
{
	for (;;)
		pause();
}

int main(void)
{
	threads();
	return 0;
}

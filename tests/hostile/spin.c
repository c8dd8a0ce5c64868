/* Never ends, and makes no step that snarl could see. */
#include "hostile.h"

int main(void)
{
	threads();
	for (volatile int i = 1; i; i |= 1)
		;
	threads();
	return 0;
}

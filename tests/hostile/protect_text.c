/* Takes its own code away. */
#include "hostile.h"

static void hide(unsigned long from, unsigned long to)
{
	mprotect((void *)from, to - from, PROT_NONE);
}

int main(void)
{
	threads();
	each_mapping("r-xp", hide);
	threads();
	return 0;
}

/* Unmaps the memory that it shares with snarl. */
#include "hostile.h"

static void drop(unsigned long from, unsigned long to)
{
	munmap((void *)from, to - from);
}

int main(void)
{
	threads();
	each_mapping("rw-s", drop);
	threads();
	return 0;
}

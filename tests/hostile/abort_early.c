/* Aborts in a constructor. */
#include "hostile.h"

__attribute__((constructor)) static void harm(void)
{
	abort();
}

int main(void)
{
	threads();
	return 0;
}

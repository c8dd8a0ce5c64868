/* Ends in a constructor. */
#include "hostile.h"

__attribute__((constructor)) static void harm(void)
{
	_exit(0);
}

int main(void)
{
	threads();
	return 0;
}

/* Ends by _exit in a destructor. */
#include "hostile.h"

__attribute__((destructor)) static void harm(void)
{
	_exit(3);
}

int main(void)
{
	threads();
	return 0;
}

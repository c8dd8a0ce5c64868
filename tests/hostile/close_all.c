/* Closes all descriptors, those of snarl too. */
#include "hostile.h"

int main(void)
{
	threads();
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	threads();
	return 0;
}

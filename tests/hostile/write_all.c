/* Writes garbage to all descriptors. */
#include "hostile.h"

int main(void)
{
	static const char noise[16] = "garbage garbage";

	threads();
	signal(SIGPIPE, SIG_IGN);
	for (int fd = 3; fd < 1024; fd++)
		for (size_t size = 1; size <= sizeof(noise); size += 15)
			if (write(fd, noise, size) < 0)
				break;
	threads();
	return 0;
}

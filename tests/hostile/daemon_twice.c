/* A daemon: two forks, a session of its own, closed descriptors. */
#include "hostile.h"

int main(void)
{
	threads();
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			for (int fd = 0; fd < 256; fd++)
				close(fd);
			for (;;)
				pause();
		}
		_exit(0);
	}
	threads();
	return 0;
}

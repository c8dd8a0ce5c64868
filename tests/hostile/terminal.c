/* Reads the terminal and stdin, and takes the terminal over. */
#include "hostile.h"

int main(void)
{
	char c;
	int fd;

	threads();
	fd = open("/dev/tty", O_RDWR);
	if (fd >= 0 && (tcsetpgrp(fd, getpgrp()) < 0 || read(fd, &c, 1) < 0))
		puts("no terminal");
	while (read(0, &c, 1) > 0)
		;
	threads();
	return 0;
}

/* Becomes itself, twenty times. */
#include "hostile.h"

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 20;
	char text[16];

	threads();
	snprintf(text, sizeof(text), "%d", left - 1);
	if (left > 0)
		execl("/proc/self/exe", argv[0], text, (char *)NULL);
	threads();
	return 0;
}

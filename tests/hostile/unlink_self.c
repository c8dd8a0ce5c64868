/* Removes its own program file, its folder, and the results of snarl. */
#include "hostile.h"

int main(void)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	threads();
	path[size > 0 ? size : 0] = '\0';
	unlink(path);
	if (system("rm -rf out") != 0)
		return 0;
	threads();
	return 0;
}

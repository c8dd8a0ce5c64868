/* Removes the folder that it runs in. */
#include <sys/stat.h>
#include "hostile.h"

int main(void)
{
	threads();
	if (mkdir("gone", 0700) < 0 || chdir("gone") < 0 || rmdir("../gone") < 0)
		puts("still there");
	threads();
	return 0;
}

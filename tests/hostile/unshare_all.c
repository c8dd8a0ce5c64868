/* New namespaces, if allowed, and another root. */
#include <sched.h>
#include <sys/stat.h>
#include "hostile.h"

int main(void)
{
	threads();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) < 0)
		puts("not allowed");
	if (mkdir("jail", 0700) == 0 && chroot("jail") == 0 && chdir("/") == 0)
		puts("jailed");
	threads();
	return 0;
}

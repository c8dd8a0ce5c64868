/* Children of vfork() that exec, exit, and crash. */
#include "hostile.h"

int main(void)
{
	threads();
	if (vfork() == 0)
		execl("/bin/true", "true", (char *)NULL);
	if (vfork() == 0)
		_exit(3);
	if (vfork() == 0)
		raise(SIGKILL);
	while (wait(NULL) > 0)
		;
	threads();
	return 0;
}

/* A name that looks like the end of /proc/PID/stat, no dumps, no death signal. */
#include "hostile.h"

int main(void)
{
	threads();
	prctl(PR_SET_NAME, "x) Z 1 (y");
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (fork() == 0 && fork() == 0)
		for (;;)
			pause();
	threads();
	return 0;
}

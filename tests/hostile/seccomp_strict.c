/* Only read, write and exit are allowed from here on. */
#include "hostile.h"

int main(void)
{
	threads();
	prctl(PR_SET_SECCOMP, 1, 0, 0, 0);
	threads();
	return 0;
}

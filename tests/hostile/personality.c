/* Another personality, and itself again. */
#include <sys/personality.h>
#include "hostile.h"

int main(void)
{
	threads();
	if (!getenv("AGAIN")) {
		setenv("AGAIN", "1", 1);
		personality(ADDR_COMPAT_LAYOUT | READ_IMPLIES_EXEC);
		execl("/proc/self/exe", "personality", (char *)NULL);
	}
	threads();
	return 0;
}

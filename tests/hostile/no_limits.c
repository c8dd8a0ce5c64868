/* All resource limits are 0. */
#include "hostile.h"

int main(void)
{
	struct rlimit none = { 0, 0 };

	threads();
	for (int i = 0; i < RLIM_NLIMITS; i++)
		setrlimit(i, &none);
	threads();
	return 0;
}

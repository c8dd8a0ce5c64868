/* Becomes another program. */
#include "hostile.h"

int main(void)
{
	threads();
	execl("/bin/true", "true", (char *)NULL);
	threads();
	return 0;
}

/* Kills its process group. */
#include "hostile.h"

int main(void)
{
	threads();
	kill(0, SIGKILL);
	threads();
	return 0;
}

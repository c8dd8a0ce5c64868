/* Stops its process group. */
#include "hostile.h"

int main(void)
{
	threads();
	kill(0, SIGSTOP);
	threads();
	return 0;
}

/* Exhausts the stack. */
#include "hostile.h"

__attribute__((noinline)) static int deeper(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return deeper(n + 1) + room[0];
}

int main(void)
{
	threads();
	return deeper(1);
	threads();
	return 0;
}

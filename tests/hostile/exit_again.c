/* A handler of atexit() that calls exit(). */
#include "hostile.h"

static void again(void)
{
	exit(0);
}

int main(void)
{
	atexit(again);
	threads();
	exit(0);
}

/* abort with a handler for SIGABRT: it is recorded, and the process dies all the same. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(int number)
{
	(void)number;
	_exit(2);
}

int main(void)
{
	signal(SIGABRT, handler);
	abort();
}

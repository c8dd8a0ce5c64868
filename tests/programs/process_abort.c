/* abort, with a handler that is seen and does not help. */
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

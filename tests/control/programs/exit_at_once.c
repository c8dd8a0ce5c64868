/*
 * options: --expect-exit 9
 * _exit() in a worker: no handlers run, nothing is flushed, main does not continue.
 */
#include "want.h"

#include <unistd.h>

static void *leaves(void *arg)
{
	_exit(9);
	return arg;
}

int main(void)
{
	want(atexit(abort), 0);
	finish(start(leaves, NULL));
	return 1;
}

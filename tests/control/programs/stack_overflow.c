/*
 * fails: overflow. Under every schedule: fill() writes past its buffer in a thread, which is found
 * when it returns. With an argument it stays within, and passes.
 */
#include "want.h"

#include <stdint.h>
#include <string.h>

static __attribute__((noinline)) int fill(size_t size)
{
	char buffer[32];
	char *volatile at = buffer;

	memset(at, 'x', size);
	return at[31];
}

static void *thread(void *size)
{
	return (void *)(intptr_t)fill((size_t)(intptr_t)size);
}

int main(int argc, char **argv)
{
	(void)argv;
	elsewhere(thread, (void *)(argc > 1 ? 32l : 56l));
	return 0;
}

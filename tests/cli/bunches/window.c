/* As tests/cli/signal_steps/window.c, of bunches. */
#include "../signal_steps/window.h"

int shared[16] __attribute__((aligned(64)));

typedef void row(char *p, long hooks);
row again, pair, around, many;

static __attribute__((noinline)) void inner(int depth)
{
	if (depth > 0)
		inner(depth - 1);
	else
		around((char *)shared, 0);
	__asm__ volatile("" : : : "memory");
}

void settle(void)
{
}

void window(int which)
{
	switch (which) {
	case 0:
		shared[0] = 1;
		again((char *)shared, 0);
		break;
	case 1:
		inner(2);
		break;
	case 2:
		many((char *)shared, 0);
		break;
	case 3:
		pair((char *)shared + 8, 0);
		shared[1]++;
		break;
	}
}

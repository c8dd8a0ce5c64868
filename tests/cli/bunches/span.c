/* As window.c, of accesses that are told over others if a list has switched these off. */
#include "../signal_steps/window.h"

int shared[16] __attribute__((aligned(64)));
static __thread int own[4];

int mixed(int *n, int *b, int step), deep(int depth, int *n);

/* What is stored may be what is read next. */
__attribute__((noinline)) int mixed(int *n, int *b, int step)
{
	int x = n[0] + b[0], y;

	b[0] = x & step;
	y = n[1] + b[1];
	b[1] = y & step;
	n[2] = x - n[0];
	b[2] = x & step;
	n[3] = y - n[1];
	return x;
}

__attribute__((noinline)) int deep(int depth, int *n)
{
	return depth > 0 ? deep(depth - 1, n) + 1 : mixed(n, own, 0);
}

void settle(void)
{
}

void window(int which)
{
	switch (which) {
	case 0:
		mixed(shared, own, 0);
		break;
	case 1:
		deep(2, shared + 4);
		break;
	case 2:
		mixed(shared, own, 0);
		mixed(shared + 8, own, 0);
		break;
	case 3:
		shared[1] = mixed(shared + 2, own, 0);
		break;
	}
}

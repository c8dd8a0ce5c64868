/*
 * slow: a schedule does not say where a thread ran without a step
 * Threads that wait for a flag which inline assembly reads: none of their loops has an event.
 * Others get their turn.
 */
#include "want.h"

static int flag, written;

static int load(const int *p)
{
	int v;

	__asm__ volatile("movl %1, %0" : "=r"(v) : "m"(*p) : "memory");
	return v;
}

static void store(int *p, int v)
{
	__asm__ volatile("movl %1, %0" : "=m"(*p) : "r"(v) : "memory");
}

static void *waits_by_assembly(void *arg)
{
	while (!load(&flag))
		__asm__ volatile("pause");
	store(&written, 1);
	return arg;
}

int main(void)
{
	pthread_t t;

	t = start(waits_by_assembly, NULL);
	store(&flag, 1);
	while (!load(&written))
		;
	finish(t);
	return 0;
}

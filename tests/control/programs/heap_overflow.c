/*
 * fails: overflow. Under every schedule: put() writes 4 bytes at +40 of a 40-byte
 * block allocated by thread 0 in main(). With an argument it reads 4 bytes before it.
 */
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) void put(int *p, int i)
{
	p[i] = i;
}

static __attribute__((noinline)) int get(const int *p, int i)
{
	return p[i];
}

int main(int argc, char **argv)
{
	int *first = calloc(10, 4), *p = calloc(10, 4);

	(void)argv;
	if (!first || !p)
		return 2;
	if (argc > 1)
		printf("not noticed: %d\n", get(p, -1));
	put(p, 9);
	put(p, 10);
	puts("not noticed");
	return 0;
}

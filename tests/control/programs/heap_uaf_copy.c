/*
 * fails: uaf. Under every schedule: memcpy in main() reads 40 bytes from +0 of a
 * 100-byte block that realloc has moved; free and malloc in grow().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) char *grow(char **old)
{
	*old = malloc(100);
	if (!*old)
		exit(2);
	memset(*old, 'x', 100);
	return realloc(*old, 100000);
}

int main(void)
{
	char *old, *p = grow(&old), to[40];

	if (!p)
		return 2;
	memcpy(to, old, sizeof(to));
	printf("not noticed: %.40s\n", to);
	return 0;
}

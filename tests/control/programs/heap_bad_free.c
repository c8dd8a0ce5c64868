/*
 * fails: bad-free. Without an argument, main() frees the middle of a block (+16 of 64 bytes), with
 * one a variable.
 */
#include <stdio.h>
#include <stdlib.h>

static char variable[64];

int main(int argc, char **argv)
{
	char *p = malloc(64);
	char *volatile wrong = argc > 1 ? variable + 16 : p + 16;

	(void)argv;
	if (!p)
		return 2;
	free(wrong);
	puts("not noticed");
	return 0;
}

/* Prints all bytes, escape sequences and no newline. */
#include "hostile.h"

int main(void)
{
	threads();
	for (int i = 0; i < 100000; i++)
		putc(i & 255, i % 3 ? stdout : stderr);
	fputs("\033[2J\033]0;title\007", stderr);
	fflush(stdout);
	threads();
	return 0;
}

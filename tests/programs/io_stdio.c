/* flags: -O1 -pthread -fno-builtin -D__NO_INLINE__ */
/* Printing is recorded as output, whichever call is used; memory streams are not output. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void list(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

static void printing(void)
{
	printf("%s %d\n", "number", 7);
	fprintf(stdout, "%d\n", 8);
	puts("line");
	fputs("text\n", stdout);
	putchar('c');
	putc('c', stdout);
	fputc('\n', stdout);
	fwrite("abcd", 2, 2, stdout);
	list("%d\n", 9);
	fflush(stdout);
	dprintf(1, "%s\n", "direct");
	printf("%s", "");	/* prints nothing */
}

static void in_memory(void)
{
	char buf[16];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	fputs("hidden", f);
	fclose(f);
	sprintf(buf, "%d", 3);
	snprintf(buf, 2, "%s", "cut");
	if (strcmp(buf, "c") != 0)
		exit(9);
}

int main(void)
{
	printing();
	in_memory();
	return 0;
}

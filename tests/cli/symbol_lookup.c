/*
 * Prints names for the addresses on stdin (hexadecimal, one per line), for symbol_compare.sh: the
 * address, then function, file name, line and column of each frame. With a second argument,
 * variables instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbol/symbol.h"

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "??";
}

static void show_frames(struct symbols *s, uint64_t addr)
{
	struct symbol_frame frames[64];
	size_t count = symbols_frames(s, addr + 1, frames, 64);

	printf("%#lx", (unsigned long)addr);
	for (size_t i = 0; i < count; i++)
		printf("\t%s\t%s:%u:%u", frames[i].function, base_name(frames[i].file),
		       frames[i].line, frames[i].column);
	putchar('\n');
}

static void show_variable(struct symbols *s, uint64_t addr)
{
	struct symbol_variable v;

	if (symbols_variable(s, addr, &v))
		printf("%#lx\t%s+%lu\t%lu\t%s:%u\n", (unsigned long)addr, v.name,
		       (unsigned long)v.offset, (unsigned long)v.size, base_name(v.file), v.line);
	else
		printf("%#lx\t??\n", (unsigned long)addr);
}

int main(int argc, char **argv)
{
	struct symbols *s = symbols_new();
	struct timespec start, end;
	unsigned long count = 0;
	struct err err;
	char line[64];

	if (argc < 2 || symbols_add(s, argv[1], NULL, 0, 0, 0, UINT64_MAX, &err) < 0) {
		fprintf(stderr, "%s\n", argc < 2 ? "usage: symbol_lookup FILE [var]" : err.text);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (; fgets(line, sizeof(line), stdin); count++)
		(argc > 2 ? show_variable : show_frames)(s, strtoull(line, NULL, 16));
	clock_gettime(CLOCK_MONOTONIC, &end);
	fprintf(stderr, "%lu addresses in %.0f ms\n", count,
		(double)(end.tv_sec - start.tv_sec) * 1e3 +
			(double)(end.tv_nsec - start.tv_nsec) / 1e6);
	symbols_free(s);
	return 0;
}

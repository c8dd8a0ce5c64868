#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void *checked(void *p)
{
	if (!p) {
		fputs("snarl: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(count && size ? calloc(count, size) : calloc(1, 1));
}

void *xrealloc(void *old, size_t size)
{
	return checked(realloc(old, size ? size : 1));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *xstrndup(const char *text, size_t size)
{
	return checked(strndup(text, size));
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text;
	int got;

	va_start(args, format);
	got = vasprintf(&text, format, args);
	va_end(args);
	return checked(got < 0 ? NULL : text);
}

void *xgrow(void *array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return array;
	if (*capacity > SIZE_MAX / 2 / size - 8)
		checked(NULL);
	*capacity = *capacity * 2 + 8;
	return xrealloc(array, *capacity * size);
}

void *xreach(void *array, size_t index, size_t *count, size_t size)
{
	size_t before = *count;

	if (index < before)
		return array;
	if (index > SIZE_MAX / 2 / size - 16)
		checked(NULL);
	*count = index + 16;
	array = xrealloc(array, *count * size);
	memset((char *)array + before * size, 0, (*count - before) * size);
	return array;
}

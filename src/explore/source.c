#include "explore/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LINE_MAX_KEPT 400u	/* bytes of a line */

static bool is_inside(char c)	/* a character of several bytes */
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t source_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += !is_inside(*text);
	return n;
}

size_t source_fit(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (!is_inside(text[i]) && columns-- == 0)
			break;
	return i;
}

/* The length of a well-formed character of several bytes that is no control; else 0. */
static size_t character(const unsigned char *p, size_t size)
{
	size_t length = *p >= 0xf0 && *p < 0xf5 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;

	if (*p >= 0xf5 || !length || length > size || (*p == 0xc2 && p[1] < 0xa0))
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

void source_escape(const char *text, size_t size, struct buf *out)
{
	for (size_t i = 0; i < size;) {
		const unsigned char *p = (const unsigned char *)text + i;
		size_t length = *p < 0x80 ? 1 : character(p, size - i);

		if (*p == '\t')
			buf_add_char(out, ' ');
		else if (!length || *p < 0x20 || *p == 0x7f)
			buf_add_char(out, '?');
		else
			buf_add(out, p, length);
		i += length ? length : 1;
	}
}

static FILE *open_source(const struct places *places, uint64_t pc, const char *file)
{
	const struct places_module *m = places_module(places, pc);
	const char *slash = m ? strrchr(m->path, '/') : NULL;
	FILE *f = fopen(file, "re");
	char *path;

	if (f || *file == '/' || !slash)
		return f;
	path = xasprintf("%.*s/%s", (int)(slash - m->path), m->path, file);
	f = fopen(path, "re");
	free(path);
	return f;
}

bool source_line(const struct places *places, uint64_t pc, const char *file, uint32_t line,
		 struct buf *out)
{
	FILE *f = file && line ? open_source(places, pc, file) : NULL;
	char *text = NULL;
	size_t capacity = 0, skip = 0;
	ssize_t got = -1;

	for (uint32_t i = 0; f && i < line; i++) {
		got = getline(&text, &capacity, f);
		if (got < 0)
			break;
	}
	if (f)
		fclose(f);
	while (got > 0 && strchr(" \t\r\n", text[got - 1]))
		got--;
	while (got > 0 && skip < (size_t)got && strchr(" \t", text[skip]))
		skip++;
	if (got > 0) {
		size_t size = (size_t)got - skip;

		source_escape(text + skip, size < LINE_MAX_KEPT ? size : LINE_MAX_KEPT, out);
	}
	free(text);
	return got > 0;
}

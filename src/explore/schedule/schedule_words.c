/*
 * Tokeniser for one line of a schedule file.
 */
#include "explore/schedule/schedule_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

int words_bad(struct words *w, const char *format, ...)
{
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	for (char *p = text; *p; p++)	/* no control characters of the file reach the terminal */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return err_set(w->err, "%s:%lu: %s", w->name, w->line, text);
}

void words_skip(struct words *w)
{
	while (w->p < w->end && (*w->p == ' ' || *w->p == '\t' || *w->p == '\r'))
		w->p++;
}

bool words_at_end(struct words *w)
{
	words_skip(w);
	return w->p == w->end;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Appends the character that an escape stands for, from behind the backslash. False: bad escape. */
static bool take_escape(struct words *w, struct buf *out)
{
	char c = w->p < w->end ? *w->p++ : '\0';

	if (c == 'n') {
		buf_add_char(out, '\n');
	} else if (c == '"' || c == '\\') {
		buf_add_char(out, c);
	} else if (c == 'x' && w->end - w->p >= 2 && hex_digit(w->p[0]) >= 0 &&
		   hex_digit(w->p[1]) >= 0 && (hex_digit(w->p[0]) | hex_digit(w->p[1]))) {
		buf_add_char(out, (char)(hex_digit(w->p[0]) << 4 | hex_digit(w->p[1])));
		w->p += 2;
	} else {
		return false;
	}
	return true;
}

char *words_take(struct words *w, const char *stops, const char *what)
{
	struct buf out = { 0 };
	char *text;

	if (words_at_end(w)) {
		words_bad(w, "%s is missing", what);
		return NULL;
	}
	if (*w->p != '"') {
		while (w->p < w->end && !strchr(" \t\r", *w->p) && !strchr(stops, *w->p))
			buf_add_char(&out, *w->p++);
		if (out.size == 0)
			words_bad(w, "%s is missing", what);
		text = out.size ? xstrdup(buf_string(&out)) : NULL;
		buf_free(&out);
		return text;
	}
	for (w->p++; w->p < w->end && *w->p != '"';) {
		char c = *w->p++;

		if (c != '\\') {
			buf_add_char(&out, c);
		} else if (!take_escape(w, &out)) {
			words_bad(w, "%s: after \\ comes n, \", \\ or x and two hex digits", what);
			buf_free(&out);
			return NULL;
		}
	}
	text = w->p < w->end ? xstrdup(buf_string(&out)) : NULL;
	if (text)
		w->p++;
	else
		words_bad(w, "%s: the closing \" is missing", what);
	buf_free(&out);
	return text;
}

int words_number(struct words *w, const char *what, uint64_t least, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;
	const char *start;

	words_skip(w);
	start = w->p;
	for (; w->p < w->end && *w->p >= '0' && *w->p <= '9'; w->p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*w->p - '0'), &value))
			return words_bad(w, "%s is too large", what);
	if (w->p == start)
		return words_bad(w, "%s has to be a number", what);
	if (value < least || value > most)
		return words_bad(w, "%s has to be from %llu to %llu", what,
				 (unsigned long long)least, (unsigned long long)most);
	*out = value;
	return 0;
}

int words_hex(struct words *w, const char *what, int digits, uint64_t *out)
{
	int count = 0;

	for (*out = 0; w->p < w->end && hex_digit(*w->p) >= 0 && count < 17; w->p++, count++)
		*out = *out << 4 | (uint64_t)hex_digit(*w->p);
	if (count == 0 || count > 16 || (digits && count != digits))
		return words_bad(
			w, digits ? "%s has to be %d hex digits" : "%s has to be a hex number",
			what, digits);
	return 0;
}

bool words_literal(struct words *w, const char *text)
{
	size_t size = strlen(text);

	if ((size_t)(w->end - w->p) < size || memcmp(w->p, text, size) != 0)
		return false;
	w->p += size;
	return true;
}

int words_done(struct words *w)
{
	return words_at_end(w) ? 0 : words_bad(w, "'%.*s' does not belong here",
				   (int)(w->end - w->p > 40 ? 40 : w->end - w->p), w->p);
}

#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

uint8_t *buf_reserve(struct buf *b, size_t extra)
{
	if (!b->data || b->capacity - b->size < extra) {
		size_t capacity = b->capacity < 64 ? 64 : b->capacity * 2;

		if (capacity < b->size + extra)
			capacity = b->size + extra;
		b->data = xrealloc(b->data, capacity);
		b->capacity = capacity;
	}
	return b->data + b->size;
}

void buf_add(struct buf *b, const void *data, size_t size)
{
	if (!size)
		return;
	memcpy(buf_reserve(b, size), data, size);
	b->size += size;
}

void buf_add_char(struct buf *b, char c)
{
	*buf_reserve(b, 1) = (uint8_t)c;
	b->size++;
}

void buf_add_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_addf(struct buf *b, const char *format, ...)
{
	va_list args, again;
	int need;

	va_start(args, format);
	va_copy(again, args);
	need = vsnprintf(NULL, 0, format, args);
	if (need > 0) {
		vsnprintf((char *)buf_reserve(b, (size_t)need + 1), (size_t)need + 1, format,
			  again);
		b->size += (size_t)need;
	}
	va_end(again);
	va_end(args);
}

void buf_add_hex(struct buf *b, uint64_t value)
{
	char text[18], *p = text + sizeof(text);

	do {
		*--p = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	*--p = 'x';
	*--p = '0';
	buf_add(b, p, (size_t)(text + sizeof(text) - p));
}

void buf_add_dec(struct buf *b, uint64_t value)
{
	char text[20], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	buf_add(b, p, (size_t)(text + sizeof(text) - p));
}

void buf_add_option(struct buf *b, const char *key, const char *value)
{
	buf_addf(b, "%s%s=", b->size > 0 ? ":" : "", key);
	for (; *value; value++)
		if (*value == ':' || *value == '%')
			buf_addf(b, "%%%02x", (unsigned char)*value);
		else
			buf_add_char(b, *value);
}

static bool has_control(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			return true;
	return false;
}

void buf_add_shell_word(struct buf *b, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+-,:@%=";
	bool control = has_control(word);

	if (*word && !word[strspn(word, plain)]) {
		buf_add_text(b, word);
		return;
	}
	buf_add_text(b, control ? "$'" : "'");
	for (; *word; word++)
		if (control && ((unsigned char)*word < ' ' || *word == 0x7f))
			buf_addf(b, "\\x%02x", (unsigned char)*word);
		else if (control && (*word == '\'' || *word == '\\'))
			buf_addf(b, "\\%c", *word);
		else if (*word == '\'')
			buf_add_text(b, "'\\''");
		else
			buf_add_char(b, *word);
	buf_add_char(b, '\'');
}

const char *buf_string(struct buf *b)
{
	*buf_reserve(b, 1) = 0;
	return (const char *)b->data;
}

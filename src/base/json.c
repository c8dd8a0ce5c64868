#include "base/json.h"

#include <string.h>

/* Returns the length of the UTF-8 sequence at p, or 0 if it is invalid. */
static size_t utf8_length(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 :
		   p[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)	/* the terminating NUL also ends up here */
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;	/* overlong, a surrogate, or above U+10FFFF */
	return n;
}

static void add_string(struct buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	buf_add_char(out, '"');
	while (*p) {
		size_t plain = 0, length;

		while (p[plain] >= 0x20 && p[plain] < 0x7f && p[plain] != '"' && p[plain] != '\\')
			plain++;
		if (plain > 0) {
			buf_add(out, p, plain);
			p += plain;
			continue;
		}
		length = utf8_length(p);
		if (*p == '"' || *p == '\\') {
			buf_add_char(out, '\\');
			buf_add_char(out, (char)*p);
		} else if (*p < 0x20 || *p == 0x7f) {
			buf_addf(out, "\\u%04x", *p);
		} else if (length > 0) {
			buf_add(out, p, length);
		} else {
			buf_add_text(out, "\\ufffd");
			length = 1;
		}
		p += length ? length : 1;
	}
	buf_add_char(out, '"');
}

static void begin(struct json *j, const char *key)
{
	if (j->comma)
		buf_add_char(j->out, ',');
	j->comma = true;
	if (key) {
		add_string(j->out, key);
		buf_add_char(j->out, ':');
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	begin(j, key);
	buf_add_char(j->out, bracket);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	buf_add_char(j->out, bracket);
	j->comma = true;
}

void json_text(struct json *j, const char *key, const char *text)
{
	begin(j, key);
	if (text)
		add_string(j->out, text);
	else
		buf_add_text(j->out, "null");
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	buf_add_text(j->out, value ? "true" : "false");
}

void json_decimal(struct json *j, const char *key, double value)
{
	begin(j, key);
	buf_addf(j->out, "%.3f", value);
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	bool large = value > 1ull << 53;

	begin(j, key);
	if (large)
		buf_add_char(j->out, '"');
	buf_add_dec(j->out, value);
	if (large)
		buf_add_char(j->out, '"');
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	begin(j, key);
	buf_add_char(j->out, '"');
	buf_add_hex(j->out, value);
	buf_add_char(j->out, '"');
}

void json_members(struct json *j, const void *data, size_t size)
{
	if (size == 0)
		return;
	begin(j, NULL);
	buf_add(j->out, data, size);
}

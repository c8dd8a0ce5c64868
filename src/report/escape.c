#include "report/escape.h"

#include <stdint.h>
#include <string.h>

#define BAD 0xfffdu

/*
 * Decodes a character and advances *p. Returns BAD for invalid UTF-8 and for characters not to be
 * shown.
 */
static uint32_t next_char(const unsigned char **p)
{
	const unsigned char *s = *p;
	size_t more = s[0] < 0x80		    ? 0
		      : s[0] >= 0xc2 && s[0] < 0xe0 ? 1
		      : s[0] >= 0xe0 && s[0] < 0xf0 ? 2
		      : s[0] >= 0xf0 && s[0] < 0xf5 ? 3
						    : 9;
	uint32_t c = more == 0 ? s[0] : more < 9 ? s[0] & (0x3fu >> more) : BAD;

	(*p)++;
	if (more == 9)
		return BAD;
	for (size_t i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80)	/* also ends at the terminating NUL */
			return BAD;
		c = c << 6 | (s[i] & 0x3fu);
	}
	*p = s + 1 + more;
	if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) ||
	    (more == 2 && c < 0x800) || (more == 3 && (c < 0x10000 || c > 0x10ffff)) ||
	    (c >= 0xd800 && c < 0xe000) || (c & 0xfffe) == 0xfffe)
		return BAD;
	/*
	 * Marks that change the direction of text could make a line of source look like another
	 * one.
	 */
	if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	    c == 0x200f || c == 0x2028 || c == 0x2029 || c == 0xfeff)
		return BAD;
	return c;
}

static void add_utf8(struct buf *out, uint32_t c)
{
	char bytes[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
	buf_add(out, bytes, n);
}

static void add_html(struct buf *out, uint32_t c)
{
	switch (c) {
	case '<': buf_add_text(out, "&lt;"); break;
	case '>': buf_add_text(out, "&gt;"); break;
	case '&': buf_add_text(out, "&amp;"); break;
	case '"': buf_add_text(out, "&quot;"); break;
	case '\'': buf_add_text(out, "&#39;"); break;
	default: add_utf8(out, c);
	}
}

void escape_html(struct buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p)
		add_html(out, next_char(&p));
}

void escape_html_cut(struct buf *out, const char *text, size_t most)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t n = 0; *p; n++) {
		uint32_t c = next_char(&p);

		if (n + 1 >= most && *p) {
			buf_add_text(out, "…");
			return;
		}
		add_html(out, c == '\n' || c == '\t' ? ' ' : c);
	}
}

/* Columns of a character: 0 for combining marks, 2 for East Asian wide characters and emoji. */
static size_t columns(uint32_t c)
{
	if ((c >= 0x300 && c < 0x370) || (c >= 0x1ab0 && c < 0x1b00) ||
	    (c >= 0x20d0 && c < 0x2100) || (c >= 0x200b && c <= 0x200d) ||
	    (c >= 0xfe00 && c <= 0xfe0f))
		return 0;
	if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
	    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
	    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd))
		return 2;
	return 1;
}

size_t escape_width(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t width = 0;

	while (*p)
		width += columns(next_char(&p));
	return width;
}

size_t escape_terminal(struct buf *out, const char *text, size_t most, bool ascii)
{
	const unsigned char *p = (const unsigned char *)text;
	bool cut = escape_width(text) > most;
	size_t mark = ascii ? 2 : 1, limit = cut ? (most > mark ? most - mark : 0) : most,
	       taken = 0;

	while (*p) {
		uint32_t c = next_char(&p);
		size_t width = columns(c);

		if (taken + width > limit)
			break;
		taken += width;
		if (c == '\n' || c == '\t')
			buf_add_char(out, ' ');
		else if (ascii && c > 0x7e)
			buf_add(out, "??", width);
		else
			add_utf8(out, c);
	}
	if (cut && most >= mark) {
		buf_add_text(out, ascii ? ".." : "…");
		taken += mark;
	}
	return taken;
}

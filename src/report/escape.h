/*
 * Escapes text of the program for HTML, SVG and terminals; no other code does. Bytes that are not
 * valid UTF-8, and control characters, become U+FFFD (in ASCII output '?').
 */
#ifndef REPORT_ESCAPE_H
#define REPORT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* For HTML text and for attribute values in double quotes. Keeps newlines and tabs. */
void escape_html(struct buf *out, const char *text);

/*
 * As escape_html(), on one line of at most `most` characters; a text that is cut ends with an
 * ellipsis.
 */
void escape_html_cut(struct buf *out, const char *text, size_t most);

/*
 * For a terminal: one line of at most `most` columns. Replaces characters outside ASCII by '?' if
 * `ascii`. Returns the number of columns: 0 for combining marks, 2 for wide characters.
 */
size_t escape_terminal(struct buf *out, const char *text, size_t most, bool ascii);

/* Returns the number of columns that escape_terminal() would take without a limit. */
size_t escape_width(const char *text);

#endif

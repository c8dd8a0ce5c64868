/*
 * Text of the program made harmless: the one place where it gets into HTML, SVG or a
 * terminal. Bytes that are no UTF-8, and control characters, become U+FFFD (or '?').
 */
#ifndef REPORT_ESCAPE_H
#define REPORT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* For text and attribute values in double quotes; newlines and tabs stay. */
void escape_html(struct buf *out, const char *text);

/* The same, on one line and no longer than `most` characters, the last being … then. */
void escape_html_cut(struct buf *out, const char *text, size_t most);

/*
 * For a terminal: one line, at most `most` columns; what is not ASCII becomes ? if
 * `ascii`. Returns the columns taken. Marks and wide characters count as they are shown.
 */
size_t escape_terminal(struct buf *out, const char *text, size_t most, bool ascii);

/* Columns that escape_terminal() would take without a limit. */
size_t escape_width(const char *text);

#endif

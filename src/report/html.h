/*
 * What the HTML pages have in common. Each page is a single file that loads nothing.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/model.h"

/* Append the part of a page up to <main>, and from </main> on. */
void html_begin(struct buf *out, const char *title);
void html_end(struct buf *out);

/*
 * Appends <p class="CLASS">text</p> with the text escaped, or nothing if it is empty. Frees `text`.
 */
void html_paragraph(struct buf *out, const char *class, struct buf *text);

/* Appends a command in a box, with a button that copies it. */
void html_command(struct buf *out, const char *command);

/* Appends the failing run beside the nearest run that passes; nothing if that is unknown. */
void html_passing(const struct report_bug *b, struct buf *out);

/* Appends the page of a folder of results. */
void html_index(const struct report *r, struct buf *out);

#endif

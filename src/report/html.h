/*
 * Pages of HTML: what those of a bug and the index have in common.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/model.h"

/* Everything up to <main>, and from </main> on. A page is one file and loads nothing. */
void html_begin(struct buf *out, const char *title);
void html_end(struct buf *out);

/* <p class="CLASS">text</p>, escaped; nothing if it is empty. Frees `text`. */
void html_paragraph(struct buf *out, const char *class, struct buf *text);

/* A command in a box, with a button that copies it. */
void html_command(struct buf *out, const char *command);

/* The section with the failing run beside the nearest one that passes; nothing if there is none. */
void html_passing(const struct report_bug *b, struct buf *out);

void html_index(const struct report *r, struct buf *out);

#endif

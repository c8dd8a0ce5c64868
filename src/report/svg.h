/*
 * The interleaving as a picture: a lifeline per thread, time downwards, locks held as
 * bars, arrows where one thread meets another. Colours come from the page's style.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "report/model.h"

enum svg_form {
	SVG_WIDE,	/* a column per thread, with its source lines */
	SVG_NARROW,	/* lifelines side by side, one column of text */
};

/* `id` begins the names of what it defines; links go to #step-N, N from 1. */
void svg_bug(const struct report_bug *b, enum svg_form form, const char *id, struct buf *out);

/* A small one: the events alone, in their order. `sites` may be any list of events. */
void svg_events(const struct report_site *sites, size_t count, const char *label, struct buf *out);

#endif

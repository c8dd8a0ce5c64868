/*
 * The interleaving as a picture: a lifeline for each thread, time downwards, bars for locks held,
 * and arrows for conflicts, handovers and waits. The style of the page has the colours.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "report/model.h"

enum svg_form {
	SVG_WIDE,	/* a column per thread, with its source lines */
	SVG_NARROW,	/* lifelines side by side, one column of text */
};

/* Appends the picture. `id` prefixes the ids that it defines; links go to #step-N, N from 1. */
void svg_bug(const struct report_bug *b, enum svg_form form, const char *id, struct buf *out);

/* Appends a small picture of a list of events in their order. */
void svg_events(const struct report_site *sites, size_t count, const char *label, struct buf *out);

#endif

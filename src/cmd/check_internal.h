/*
 * The parts of snarl check.
 */
#ifndef CMD_CHECK_INTERNAL_H
#define CMD_CHECK_INTERNAL_H

#include <stdio.h>

#include "base/buf.h"
#include "learn/detect.h"

/* How it shows what it found in traces: the first `count` of the sorted items, `limit` at most. */
void check_text(const struct detect *d, size_t count, uint64_t limit, struct buf *out);
void check_json(const struct detect *d, size_t count, uint64_t limit, struct buf *out);
void check_summary(const struct detect *d, size_t count, FILE *out);

/* check_online.c: while a program runs. */
struct check_online {
	const char *rules;	/* NULL: rules.bin in `out` */
	const char *out;
	uint64_t noise, seed, granularity, limit;
	bool all;		/* every place that is known, not only those that matter */
	bool quiet, json;
	char **program;
};

int check_online(const struct check_online *o);	/* the exit code */

#endif

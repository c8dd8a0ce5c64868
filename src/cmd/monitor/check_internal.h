/*
 * What the files of snarl check share.
 */
#ifndef CMD_MONITOR_CHECK_INTERNAL_H
#define CMD_MONITOR_CHECK_INTERNAL_H

#include <stdio.h>

#include "base/buf.h"
#include "learn/detect.h"

/*
 * check_show.c: print violations found in traces. The first `count` items are to be reported, and
 * at most `limit` of them are shown.
 */
void check_text(const struct detect *d, size_t count, uint64_t limit, struct buf *out);
void check_json(const struct detect *d, size_t count, uint64_t limit, struct buf *out);
void check_summary(const struct detect *d, size_t count, FILE *out);

/* check_online.c: checks a program while it runs. */
struct check_online {
	const char *rules;	/* file; NULL: rules.bin in `out` */
	const char *out;	/* folder of results */
	uint64_t noise, seed, granularity, limit;
	bool all;		/* also watch places where no violation is possible */
	bool quiet, json;
	char **program;
};

/* Returns the exit code. */
int check_online(const struct check_online *o);

#endif

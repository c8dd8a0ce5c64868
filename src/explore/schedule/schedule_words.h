/*
 * What a line of a text file is made of. Errors are "NAME:LINE: reason".
 */
#ifndef EXPLORE_SCHEDULE_SCHEDULE_WORDS_H
#define EXPLORE_SCHEDULE_SCHEDULE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct words {
	const char *name;	/* of the file */
	const char *p, *end;	/* the rest of the line */
	unsigned long line;
	struct err *err;
};

/* Returns -1. */
int words_bad(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

void words_skip(struct words *w);	/* blanks */
bool words_at_end(struct words *w);	/* but for blanks */

/* An error unless the line is at its end. */
int words_done(struct words *w);

/* Goes over the text if it comes next. */
bool words_literal(struct words *w, const char *text);

/*
 * A word, in quotes or up to a blank or one of `stops`; to be freed, NULL on an
 * error. `what` says in errors what was looked for.
 */
char *words_take(struct words *w, const char *stops, const char *what);

int words_number(struct words *w, const char *what, uint64_t least, uint64_t most, uint64_t *out);

/* Lower-case hex digits; exactly `digits` of them, or 1..16 if that is 0. */
int words_hex(struct words *w, const char *what, int digits, uint64_t *out);

#endif

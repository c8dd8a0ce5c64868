/*
 * Tokeniser for one line of a schedule file: words, quoted words, numbers. Errors read
 * "NAME:LINE: reason".
 */
#ifndef EXPLORE_SCHEDULE_SCHEDULE_WORDS_H
#define EXPLORE_SCHEDULE_SCHEDULE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct words {
	const char *name;	/* name of the file, for errors */
	const char *p, *end;	/* unread rest of the line */
	unsigned long line;	/* number of the line, from 1 */
	struct err *err;
};

/* Sets *err to "NAME:LINE: …". Returns -1. */
int words_bad(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

void words_skip(struct words *w);	/* skips blanks */
bool words_at_end(struct words *w);	/* skips blanks; true at the end of the line */

/* Returns -1 and sets *err unless only blanks are left. */
int words_done(struct words *w);

/* If `text` comes next, skips it and returns true. */
bool words_literal(struct words *w, const char *text);

/*
 * Returns the next word, to be freed: quoted, or up to a blank or one of `stops`. NULL on an error;
 * its message calls the word `what`.
 */
char *words_take(struct words *w, const char *stops, const char *what);

/* Reads a decimal number from `least` to `most`. */
int words_number(struct words *w, const char *what, uint64_t least, uint64_t most, uint64_t *out);

/* Reads lower-case hex digits: exactly `digits`, or 1..16 if `digits` is 0. */
int words_hex(struct words *w, const char *what, int digits, uint64_t *out);

#endif

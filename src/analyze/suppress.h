/*
 * Suppression files in ThreadSanitizer's format (docs/suppressions.md): lines `type:pattern` that
 * say which findings are not to be reported.
 *
 * A pattern matches anywhere in a name. `*` stands for any text. `^` as the first character anchors
 * the pattern to the start of the name, `$` as the last one to its end.
 */
#ifndef ANALYZE_SUPPRESS_H
#define ANALYZE_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/candidate_names.h"
#include "base/err.h"

enum suppress_type {
	SUPPRESS_RACE,		/* conflicts on memory: any frame of the stack, or global */
	SUPPRESS_RACE_TOP,	/* conflicts on memory: the innermost function only */
	SUPPRESS_DEADLOCK,
	SUPPRESS_MUTEX,		/* misuse of locks */
	SUPPRESS_THREAD,	/* accepted since ThreadSanitizer has it; matches no finding */
	SUPPRESS_SIGNAL,	/* accepted since ThreadSanitizer has it; matches no finding */
	SUPPRESS_CALLED_FROM_LIB,	/* any finding whose event is in that library */
	SUPPRESS_TYPES
};

/* How many of a finding's events are suppressed. */
enum suppress_extent { SUPPRESS_NOTHING, SUPPRESS_SOME, SUPPRESS_ALL };

struct suppressions;

struct suppressions *suppress_new(void);
void suppress_free(struct suppressions *s);	/* s may be NULL */

/* Adds the lines of a file. -1: cannot be read, or a line is invalid: "FILE:LINE: reason". */
int suppress_read(struct suppressions *s, const char *path, struct err *err);

/* Adds the lines of a text; messages call it `name`. */
int suppress_parse(struct suppressions *s, const char *name, const char *text, size_t size,
		   struct err *err);

/* Whether the pattern matches the name. A name that is NULL or empty is never matched. */
bool suppress_match(const char *pattern, const char *name);

/* Whether a line of this type matches the name. */
bool suppress_name(const struct suppressions *s, enum suppress_type type, const char *name);

/*
 * Whether a line of this type matches a function or file of the frames of a pc, or the executable
 * or library `module` that holds it (may be NULL).
 */
bool suppress_frames(const struct suppressions *s, enum suppress_type type,
		     const struct symbol_frame *frames, size_t count, const char *module);

/*
 * How many of a candidate's events are suppressed by lines for its class. `n` must have learnt its
 * names. Acquisitions that only mark where to stop a thread do not count. `s` may be NULL.
 */
enum suppress_extent suppress_candidate(const struct suppressions *s, struct names *n,
					const struct analysis_context *ctx,
					const struct candidate *c);

#endif

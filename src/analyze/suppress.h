/*
 * Suppression files as ThreadSanitizer reads them (docs/suppressions.md): lines
 * `type:pattern` that say which findings are not to be told.
 *
 * A pattern is looked for anywhere in a name: `*` stands for any text, `^` at its
 * beginning and `$` at its end for those of the name.
 */
#ifndef ANALYZE_SUPPRESS_H
#define ANALYZE_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/candidate_names.h"
#include "base/err.h"

enum suppress_type {
	SUPPRESS_RACE,		/* conflicts on memory: frames of any depth, global variables */
	SUPPRESS_RACE_TOP,	/* … the innermost function alone */
	SUPPRESS_DEADLOCK,
	SUPPRESS_MUTEX,		/* misuse of locks */
	SUPPRESS_THREAD,	/* known to TSan; nothing of snarl's is of these two types */
	SUPPRESS_SIGNAL,
	SUPPRESS_CALLED_FROM_LIB,	/* whatever happens in that library */
	SUPPRESS_TYPES
};

/* How much of a finding is suppressed. */
enum suppress_extent { SUPPRESS_NOTHING, SUPPRESS_SOME, SUPPRESS_ALL };

struct suppressions;

struct suppressions *suppress_new(void);
void suppress_free(struct suppressions *s);	/* NULL is allowed */

/* Adds the lines of a file; -1: "FILE:LINE: reason". */
int suppress_read(struct suppressions *s, const char *path, struct err *err);

/* The same of a text that is called `name`. */
int suppress_parse(struct suppressions *s, const char *name, const char *text, size_t size,
		   struct err *err);

/* Does the pattern match? Never a name that is NULL or empty. */
bool suppress_match(const char *pattern, const char *name);

/* Does a line of this type match? */
bool suppress_name(const struct suppressions *s, enum suppress_type type, const char *name);

/* The same for the frames of one place, innermost first, in the file `module` (may be NULL). */
bool suppress_frames(const struct suppressions *s, enum suppress_type type,
		     const struct symbol_frame *frames, size_t count, const char *module);

/*
 * How many of a candidate's events are suppressed by lines for its class. `n` has learnt
 * its names. Events that are there only for a thread to stop at do not count. `s` may be NULL.
 */
enum suppress_extent suppress_candidate(const struct suppressions *s, struct names *n,
					const struct analysis_context *ctx,
					const struct candidate *c);

#endif

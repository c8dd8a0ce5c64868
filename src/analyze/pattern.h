/*
 * The table of patterns that analyses find: how each is ranked and tried, and the texts that
 * reports use for it. Its rows are in pattern.def.
 */
#ifndef ANALYZE_PATTERN_H
#define ANALYZE_PATTERN_H

#include <stdbool.h>

enum candidate_class {
	CANDIDATE_RACE,		/* two conflicting accesses, unordered */
	CANDIDATE_ATOMICITY,	/* a remote access between two local ones, at one location */
	CANDIDATE_ATOMICITY2,	/* two locations used together */
	CANDIDATE_DEADLOCK,	/* a cycle of locks, or a wait that can miss its wake-up */
	CANDIDATE_ORDER,	/* use before init, after free, after destroy, ... */
	CANDIDATE_MISUSE,	/* of a lock, condition or thread; happens in the trace itself */
};

/* "race", "atomicity", "atomicity2", ... */
const char *candidate_class_name(enum candidate_class class);

enum pattern {
	PATTERN_NONE,
#define PATTERN(id, name, class, score, ...) PATTERN_##id,
#define PATTERN_TWO(a, b, c, d) PATTERN_##a##x##b##x##c##y##d##y, PATTERN_##a##x##b##y##c##x##d##y,
#include "analyze/pattern.def"
#undef PATTERN
#undef PATTERN_TWO
	PATTERN_COUNT
};

/* Any text may be NULL: reports then leave it out. */
struct pattern_row {
	const char *name;		/* as in JSON: "RWW", "lock-cycle"; "" for PATTERN_NONE */
	enum candidate_class class;
	double score;			/* base of a candidate's rank */
	bool two;			/* two variables out of step; the name calls them x and y */
	bool by_values;			/* its order does harm only with some values in memory */
	/*
	 * Of a dozen runs directed by the order, the number that have to fail for it to be the
	 * cause of a failure; 0: the default.
	 */
	unsigned enough;
	const char *note;		/* what may go wrong; for candidates without a note */

	/* For reports. $1 $2 $3 stand for the steps of the cause, $a and $b for their threads. */
	const char *title;		/* %s: the variable */
	const char *any_variable;	/* for %s without a variable; NULL: "shared memory" */
	const char *effect[3];		/* appended to each step of the cause */
	const char *values;		/* what happened, if the values of all steps are known */
	const char *outcome;		/* why it can happen */
	const char *hint;		/* how to fix it */
};

/* The row of a pattern; of PATTERN_NONE for an unknown number. */
const struct pattern_row *pattern_row(enum pattern pattern);

/* PATTERN_NONE if no pattern has that name; `name` may be NULL. */
enum pattern pattern_find(const char *name);

/* The race with its two accesses in the other order; PATTERN_NONE if the pattern is no race. */
enum pattern pattern_reversed(enum pattern pattern);

#endif

/*
 * The table of patterns: what the analyses find, how it is ranked and tried, and the words for it.
 * pattern.def has its rows.
 */
#ifndef ANALYZE_PATTERN_H
#define ANALYZE_PATTERN_H

#include <stdbool.h>

enum candidate_class {
	CANDIDATE_RACE,		/* two conflicting accesses, unordered */
	CANDIDATE_ATOMICITY,	/* p, r, i on one location */
	CANDIDATE_ATOMICITY2,	/* two locations used together */
	CANDIDATE_DEADLOCK,	/* a cycle of locks, or a wait that can miss its wake-up */
	CANDIDATE_ORDER,	/* use before init, after free, after destroy, … */
	CANDIDATE_MISUSE,	/* seen in the trace itself */
};

/* "race", "atomicity", "atomicity2", … */
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

/* Texts may be NULL: there is nothing to say. */
struct pattern_row {
	const char *name;		/* as in JSON: "RWW", "lock-cycle"; "" for PATTERN_NONE */
	enum candidate_class class;
	double score;			/* base of a candidate's rank */
	bool two;			/* two variables out of step, named x and y in the pattern's name */
	bool by_values;			/* harm depends on what is in memory: a passing run speaks against it */
	unsigned enough;		/* of a dozen directed runs so many have to fail; 0: the usual share */
	const char *note;		/* of a candidate that has no other: what may go wrong */

	/* For reports. $1 $2 $3 stand for the steps of the cause, $a and $b for their threads. */
	const char *title;		/* %s: the variable */
	const char *any_variable;	/* for %s where no variable is meant; NULL: "shared memory" */
	const char *effect[3];		/* behind each step of the cause */
	const char *values;		/* what happened, where the values of all steps are known */
	const char *outcome;		/* why it can happen */
	const char *hint;		/* how to repair it */
};

/* Never NULL. */
const struct pattern_row *pattern_row(enum pattern pattern);

/* PATTERN_NONE if there is none of that name; NULL is no name. */
enum pattern pattern_find(const char *name);

/* The race with its two accesses in the other order; PATTERN_NONE if the pattern is no race. */
enum pattern pattern_turned(enum pattern pattern);

#endif

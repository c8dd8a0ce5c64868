/*
 * snarl check-fix: which interleavings are known, and what is told of them.
 */
#ifndef CMD_CHECK_FIX_INTERNAL_H
#define CMD_CHECK_FIX_INTERNAL_H

#include "cmd/session.h"
#include "explore/fix/fix.h"

struct check_fix {
	struct session session;
	struct checkfix_known *known;
	size_t count, capacity;
	struct map identities;	/* of failures that were told */
	struct search_failure **others;	/* that are none of the known: told last, unless like one that was */
	size_t other_count, other_capacity;
	bool keep_going;
	bool near;		/* a failure beside the known ones, about the same */
	bool other;		/* … about something else */
};

/*
 * Adds the interleavings of a folder of a bug, a schedule file, a folder of results or its
 * results.json; what has the same goals as one before is left out. -1 if it is none of them.
 */
int check_fix_load(struct check_fix *cf, const char *bug, struct err *err);

/* What was found out: told as it comes, and in the end. */
void check_fix_tell(const struct check_fix *cf);

/* "fixed", "undecided", "other-failure", "incomplete" or "not-fixed". */
const char *check_fix_verdict(const struct check_fix *cf);

/* To OUT/check-fix.json, and to stdout if wanted. */
int check_fix_write(struct check_fix *cf, struct err *err);

#endif

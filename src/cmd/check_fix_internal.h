/*
 * snarl check-fix: what it looks for, and what it says of it.
 */
#ifndef CMD_CHECK_FIX_INTERNAL_H
#define CMD_CHECK_FIX_INTERNAL_H

#include "cmd/session_print.h"
#include "explore/fix/known_orders.h"

struct check_fix {
	struct session_print print;
	struct known_orders known;
	struct map identities;	/* of failures that were told */
	struct search_failure **others;	/* that are none of the known: told last, unless like one that was */
	size_t other_count, other_capacity;
	bool keep_going;
	bool near;		/* a failure beside the known ones, about the same */
	bool other;		/* … about something else */
};

/* What was found out: told as it comes, and in the end. */
void check_fix_tell(const struct check_fix *cf);

/* "fixed", "undecided", "other-failure", "incomplete" or "not-fixed". */
const char *check_fix_verdict(const struct check_fix *cf);

/* To OUT/check-fix.json, and to stdout if wanted. */
int check_fix_write(struct check_fix *cf, struct err *err);

#endif

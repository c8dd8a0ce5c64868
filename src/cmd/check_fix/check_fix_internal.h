/*
 * What the files of snarl check-fix share: its state, and its report.
 */
#ifndef CMD_CHECK_FIX_CHECK_FIX_INTERNAL_H
#define CMD_CHECK_FIX_CHECK_FIX_INTERNAL_H

#include "cmd/session_print.h"
#include "explore/fix/known_orders.h"

struct check_fix {
	struct session_print print;
	struct known_orders known;	/* the interleavings to check, with their verdicts */
	struct map identities;	/* oracle_identity() of failures that were judged */
	struct search_failure **unmatched;	/* failures of other orders, to be judged last */
	size_t unmatched_count, unmatched_capacity;
	bool keep_going;
	bool related_failure;	/* the same accesses failed in an order that is not known */
	bool other_failure;	/* a run failed in a way that no known interleaving explains */
};

/* Prints the verdict of each known interleaving, the verdict of all, and the figures. */
void check_fix_print(const struct check_fix *cf);

/* Returns "fixed", "undecided", "other-failure", "incomplete" or "not-fixed". */
const char *check_fix_verdict(const struct check_fix *cf);

/* Writes OUT/check-fix.json, and prints it if --json is given. Returns 0, or -1 and *err. */
int check_fix_write(struct check_fix *cf, struct err *err);

#endif

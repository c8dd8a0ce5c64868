/*
 * Adds orders that guard delayed without effect (guard.log, docs/guard.md) to the database, so
 * that guard does not delay them any more.
 */
#ifndef LEARN_GUARD_FEEDBACK_H
#define LEARN_GUARD_FEEDBACK_H

#include <stdint.h>

#include "base/err.h"
#include "learn/rule_database.h"

/* Counts of orders of two accesses, summed over all logs. */
struct guard_feedback {
	uint64_t taken;		/* orders that are in the database now */
	uint64_t new;		/* of `taken`, those that were not there before */
	uint64_t unknown;	/* orders of sites that are not in the database */
};

/* Adds the orders of a log of snarl guard. If it returns -1, the database is unchanged. */
int guard_feedback_add(struct store *store, const char *path, struct guard_feedback *sum,
		       struct err *err);

#endif

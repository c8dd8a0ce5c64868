/*
 * What a guard waited for without effect (guard.log, docs/guard.md) becomes known to the
 * database, so that the guard lets it pass from then on.
 */
#ifndef LEARN_GUARD_FEEDBACK_H
#define LEARN_GUARD_FEEDBACK_H

#include <stdint.h>

#include "base/err.h"
#include "learn/rule_database.h"

/* Orders of two accesses, summed over all logs. */
struct guard_feedback {
	uint64_t taken;		/* they are in the database now */
	uint64_t new;		/* of these, not there before */
	uint64_t unknown;	/* of sites that the database does not have */
};

/* Adds what a log of snarl guard has; nothing if it returns -1. */
int guard_feedback_add(struct store *store, const char *path, struct guard_feedback *sum, struct err *err);

#endif

/* Compiles the rule database into the file that the runtime maps (abi/rules_format.h). */
#ifndef LEARN_COMPILE_H
#define LEARN_COMPILE_H

#include "abi/rules_format.h"
#include "base/buf.h"
#include "base/err.h"
#include "learn/rule_database.h"

#define COMPILE_FILE "rules.bin"	/* in the folder of results */

/* Counts of sites that access memory. Sites that take a lock or cancel a thread are not counted. */
struct compile_stats {
	uint32_t modules, sites, functions;
	uint32_t invariants;	/* sites whose invariant holds */
	uint32_t watched;	/* sites that check monitors (RULES_CHECK) */
	uint32_t open;		/* sites that may follow a site that they never followed */
	uint32_t transactions;	/* functions that hold a transaction of the guard set */
	uint32_t members;	/* sites in these transactions */
};

/* Compiles the rules for the builds of the last run into *out. */
void compile_rules(const struct known *k, uint64_t threshold, struct buf *out,
		   struct compile_stats *stats);

/* Writes the rules as a file. If writing fails, the old file stays. */
int compile_write(const struct known *k, uint64_t threshold, const char *path,
		  struct compile_stats *stats, struct err *err);

/*
 * Returns an array by site of `k`, to be freed: the flags that depend on pairs of sites. These are
 * RULES_OPEN, SOURCE, IN_TX, REMOTE, CHECK, BREAKABLE and LATE; of functions, RULES_HOLDS_TX.
 */
uint32_t *compile_marks(const struct known *k, uint64_t threshold);

#endif

/*
 * From what was learnt to the file that the runtime maps (abi/rules_format.h).
 */
#ifndef LEARN_COMPILE_H
#define LEARN_COMPILE_H

#include "abi/rules_format.h"
#include "base/buf.h"
#include "base/err.h"
#include "learn/rule_database.h"

#define COMPILE_FILE "rules.bin"	/* in the folder of results */

/* Of accesses; places that take locks, or cancel, do not count. */
struct compile_stats {
	uint32_t modules, sites, functions;
	uint32_t invariants;	/* sites whose pairs were never broken apart */
	uint32_t watched;	/* what check has to see (RULES_CHECK) */
	uint32_t open;		/* sites that may follow what they never did */
	uint32_t transactions;	/* functions that hold one that matters */
	uint32_t members;	/* sites in them */
};

/* Of the builds of the last run. */
void compile_rules(const struct known *k, uint64_t threshold, struct buf *out, struct compile_stats *stats);

/* The same as a file, whole or not at all. */
int compile_write(const struct known *k, uint64_t threshold, const char *path, struct compile_stats *stats,
		  struct err *err);

/*
 * By site of `k`, to be freed: those of enum rules_flag that follow from what sites have to do with each other
 * (OPEN, SOURCE, IN_TX, REMOTE, CHECK, BREAKABLE, LATE); of functions, RULES_HOLDS_TX.
 */
uint32_t *compile_marks(const struct known *k, uint64_t threshold);

#endif

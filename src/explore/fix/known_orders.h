/*
 * Which interleavings are known to make a program fail: those of saved bugs.
 */
#ifndef EXPLORE_FIX_KNOWN_ORDERS_H
#define EXPLORE_FIX_KNOWN_ORDERS_H

#include "explore/fix/fix.h"

struct known_orders {
	struct checkfix_known *at;
	size_t count, capacity;
};

/*
 * Adds the interleavings of `path`: a folder of a bug, a schedule file, a folder of results or
 * its results.json. An interleaving with the same goals as one before is left out. -1 if `path` is
 * none of them.
 */
int known_orders_load(struct known_orders *k, const char *path, struct err *err);
void known_orders_free(struct known_orders *k);

#endif

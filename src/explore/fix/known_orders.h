/*
 * The known failing interleavings of a program: the schedules of saved bugs.
 */
#ifndef EXPLORE_FIX_KNOWN_ORDERS_H
#define EXPLORE_FIX_KNOWN_ORDERS_H

#include "explore/fix/fix.h"

struct known_orders {
	struct checkfix_known *at;
	size_t count, capacity;
};

/*
 * Adds the interleavings of `path`: a folder of a bug, a schedule file, a folder of results or its
 * results.json. Leaves out interleavings with the same goals as an earlier one. -1 if `path` is
 * none of these.
 */
int known_orders_load(struct known_orders *k, const char *path, struct err *err);
void known_orders_free(struct known_orders *k);

#endif

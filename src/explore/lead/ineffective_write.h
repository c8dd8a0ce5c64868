/*
 * Atomicity violations without effect: the write between two accesses stored the value that was
 * there already.
 */
#ifndef EXPLORE_LEAD_INEFFECTIVE_WRITE_H
#define EXPLORE_LEAD_INEFFECTIVE_WRITE_H

#include <stdbool.h>

#include "analyze/candidate_list.h"

/*
 * Returns a flag for each candidate of the list, to be freed by the caller. It is true if the
 * pattern is RWR or RWW and the other thread's write left the value that the first read had seen.
 * False also if the trace does not have the values.
 */
bool *ineffective_write_find(const char *path, const struct hunt_list *list);

#endif

/*
 * Broken atomicity that did no harm, as far as values are known.
 */
#ifndef EXPLORE_LEAD_INEFFECTIVE_WRITE_H
#define EXPLORE_LEAD_INEFFECTIVE_WRITE_H

#include <stdbool.h>

#include "analyze/candidate_list.h"

/*
 * Of each in the list, found in the trace: is it RWR or RWW, and left the write in between what
 * the read before had found? Unknown is false. The caller frees what is returned.
 */
bool *ineffective_write_find(const char *path, const struct hunt_list *list);

#endif

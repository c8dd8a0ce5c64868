/*
 * A run of the program as it is, threads in parallel, that is recorded and judged: nobody
 * decides who runs when.
 */
#ifndef EXPLORE_SEARCH_PARALLEL_RUN_H
#define EXPLORE_SEARCH_PARALLEL_RUN_H

#include "explore/search/oracle.h"
#include "explore/target/target.h"

/*
 * The trace appears as `path`; of a run that failed, if there is one. -1 if it could not be
 * made.
 */
int plain_trace(const struct target *target, struct oracle *oracle, double timeout, const char *path,
		struct oracle_result *out, struct err *err);

#endif

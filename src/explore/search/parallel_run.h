/*
 * A parallel run that is recorded and judged: the operating system schedules the threads.
 */
#ifndef EXPLORE_SEARCH_PARALLEL_RUN_H
#define EXPLORE_SEARCH_PARALLEL_RUN_H

#include "explore/search/search.h"

/*
 * Runs the program, writes the trace to `path` and the verdict to *out. A failing run may leave no
 * trace. Returns -1 if the program cannot be run, if its deadline comes first, or if a passing
 * run leaves no trace.
 */
int plain_trace(const struct search_program *program, const char *path, struct oracle_result *out,
		struct err *err);

#endif

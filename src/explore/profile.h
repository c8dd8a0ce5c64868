/*
 * Traces of controlled runs. They are recorded when it is known which memory is shared,
 * so that an event has the same number in them and in later runs.
 */
#ifndef EXPLORE_PROFILE_H
#define EXPLORE_PROFILE_H

#include "explore/search.h"

/* How the n-th of them is scheduled: with few switches. Fits search_config.shape but for ctx. */
void profile_shape(uint64_t seed, uint64_t run, struct ctl_request *q);

/*
 * Makes it in a process of its own, with what `memory` knows, and records it to `path`.
 * What it finds shared besides is added to `memory`. If the run failed, *failure is set
 * and there is no trace. -1 if there is none for another reason.
 */
int profile_trace(const struct search_config *config, struct search_memory *memory, uint64_t run,
		  const char *path, struct search_stats *stats, struct search_failure **failure,
		  struct err *err);

#endif

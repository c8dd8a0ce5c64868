/*
 * Describes a run that exceeded a limit: which limit, and where its threads were. Such a run
 * neither passed nor failed.
 */
#ifndef EXPLORE_SEARCH_INCONCLUSIVE_H
#define EXPLORE_SEARCH_INCONCLUSIVE_H

#include "base/buf.h"
#include "explore/search/failure.h"
#include "explore/search/replay_schedule.h"

/*
 * Appends the description; it has one or more lines, all but the first indented. A run that was
 * killed at its time limit left no report about its threads: it is made once more up to its last
 * switch.
 */
void inconclusive_describe(const struct search_failure *f, const struct replay_config *config,
			   struct places *places, struct buf *out);

#endif

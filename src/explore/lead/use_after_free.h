/*
 * The cause of a use after free: a candidate "free before use".
 */
#ifndef EXPLORE_LEAD_USE_AFTER_FREE_H
#define EXPLORE_LEAD_USE_AFTER_FREE_H

#include "analyze/candidate.h"
#include "explore/search/oracle.h"
#include "trace/read/reader.h"

/*
 * Makes the candidate from the trace of the failing run, which the reader reads without values.
 * `user`: path of the thread that used the block. False if the trace does not show the free, or if
 * `user` freed the block itself.
 */
bool use_after_free_candidate(struct reader *r, const char *user,
			      const struct oracle_result *failure, struct candidate *out);

#endif

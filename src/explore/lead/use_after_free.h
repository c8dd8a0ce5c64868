/*
 * A use after free as an order: the free before the use.
 */
#ifndef EXPLORE_LEAD_USE_AFTER_FREE_H
#define EXPLORE_LEAD_USE_AFTER_FREE_H

#include "analyze/candidate.h"
#include "explore/search/oracle.h"
#include "trace/read/reader.h"

/*
 * From the trace of the run that failed so, read without values; `user` is the thread that
 * used it. False if the trace does not tell, or a thread used what it freed itself.
 */
bool use_after_free_candidate(struct reader *r, const char *user, const struct oracle_result *failure,
		     struct candidate *out);

#endif

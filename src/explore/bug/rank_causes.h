/*
 * Whether a predicted order is why a run failed, or only a part of it; or happens in
 * headers of the system, where few faults are.
 */
#ifndef EXPLORE_BUG_RANK_CAUSES_H
#define EXPLORE_BUG_RANK_CAUSES_H

#include "explore/lead/lead.h"
#include "explore/search/attempt.h"
#include "explore/search/failure.h"

#define RANK_CAUSES_RUNS 200u	/* at most */

/*
 * The failure was predicted, and its trace has the predicted order. Returns the order that
 * tells more of the cause, to be freed with lead_free(); NULL: there is none.
 */
struct lead *rank_causes(struct search_failure *f, const char *trace, const struct leads *leads,
			 struct attempt *a, struct places *places);

/* Of a use after free: its free before its use; NULL if it is none, or the trace does not tell. */
struct lead *rank_causes_use_after_free(const struct search_failure *f, const char *trace);

#endif

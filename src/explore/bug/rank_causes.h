/*
 * Checks by directed runs whether the predicted order is the cause of a failure, only a part of
 * it, or an effect of the cause that shows in system headers. rank_causes.c has the method.
 */
#ifndef EXPLORE_BUG_RANK_CAUSES_H
#define EXPLORE_BUG_RANK_CAUSES_H

#include "explore/lead/lead.h"
#include "explore/search/attempt.h"
#include "explore/search/failure.h"

#define RANK_CAUSES_RUNS 200u	/* at most, for all orders of one failure */

/*
 * `f`: a failure whose trace has its predicted order, f->lead. Returns an order that explains the
 * failure better, to be freed with lead_free(); NULL: f->lead stays the cause.
 */
struct lead *rank_causes(struct search_failure *f, const char *trace, const struct leads *leads,
			 struct attempt *a, struct places *places);

/* The free before the use of a use after free; NULL if `f` is none, or the trace lacks the free. */
struct lead *rank_causes_use_after_free(const struct search_failure *f, const char *trace);

#endif

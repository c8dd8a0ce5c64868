/*
 * Failures that are not to be told (analyze/suppress.h).
 */
#ifndef EXPLORE_BUG_SUPPRESSED_H
#define EXPLORE_BUG_SUPPRESSED_H

#include "analyze/suppress.h"
#include "explore/bug/bug.h"

/*
 * Of a failure that was proved: is every place suppressed that makes it this failure
 * (deadlock, misuse, use after free), or every event of its cause? If the cause is not
 * known yet, one more replay finds it, and keeps it in the bug if that has explain().
 */
bool suppressed_failure(struct bug *b, const struct suppressions *s,
			const struct replay_config *config, struct places *places);

#endif

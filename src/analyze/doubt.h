/*
 * Reasons to doubt candidates. Correct programs have many candidates that critical sections allow,
 * but that the program's logic excludes: an item goes through a queue, state is looked at again in
 * the next critical section. This step reads the trace once more and gives such candidates a
 * `doubt`, a text. The reasons are likely, not certain: snarl analyze lists these candidates on
 * request, and hunting tries them like others.
 */
#ifndef ANALYZE_DOUBT_H
#define ANALYZE_DOUBT_H

#include <stdbool.h>

#include "analyze/candidate.h"
#include "analyze/context/view.h"
#include "trace/read/reader.h"

struct names;

/*
 * Sets candidate.doubt. `names`: of all candidates. `knows_races`: the analyses race and
 * race-predict have both added their findings. Leaves all without a doubt if the trace is
 * damaged or has more than DOUBT_MAX_EVENTS events.
 */
void doubt_find(struct reader *trace, const struct analysis_context *ctx, struct names *names,
		bool knows_races, struct findings *f);

#endif

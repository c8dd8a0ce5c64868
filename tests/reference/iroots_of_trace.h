/*
 * Reference of the coverage that a program under control profiles by itself: the iRoots of a
 * recording of the same run. Every event of the trace goes through one fold, in order and in one
 * process.
 *
 * It takes the fold from the tool (coverage/fold/); iroots_exposed.h and iroots_predicted.h are the
 * references of the fold.
 */
#ifndef REFERENCE_IROOTS_OF_TRACE_H
#define REFERENCE_IROOTS_OF_TRACE_H

#include "coverage/fold/event_step.h"
#include "coverage/trace_coverage.h"

/* Adds every event of the trace to `p` and finishes it. Returns -1 if the trace is damaged. */
static inline int iroot_trace(struct reader *trace, struct iroot_profile *p, struct err *err)
{
	struct iroot_step steps[TRACE_STEPS];
	struct event ev;
	int got;

	if (reader_rewind(trace, err) < 0)
		return -1;
	while ((got = reader_next(trace, &ev, err)) > 0) {
		unsigned count = iroot_steps(&ev, steps);

		for (unsigned i = 0; i < count; i++)
			iroot_profile_step(p, &steps[i]);
	}
	iroot_profile_finish(p);
	return got;
}

#endif

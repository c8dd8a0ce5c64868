/*
 * What a search by the strategy `chess` can say of itself. `state` is that of
 * strategy_chess; valid from its init() on.
 */
#ifndef SCHED_CHESS_H
#define SCHED_CHESS_H

#include "sched/strategy.h"

#define CHESS_FRAMES 8192u	/* steps of a run that can be branched at */
#define CHESS_THREADS 64u	/* threads that can be told apart */

struct chess_status {
	uint32_t bound;		/* preemptions of the present round */
	uint64_t runs;		/* ended so far, in all rounds */
	uint64_t redundant;	/* of them: found to repeat an earlier one */
	bool truncated;		/* some run was too long, or had too many threads, to be branched all over */
	bool diverged;		/* some run did not repeat its prefix: the program is not deterministic */
};

void chess_status(const void *state, struct chess_status *out);

#endif

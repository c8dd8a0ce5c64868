/*
 * The progress of a search by the strategy `chess`. `state` is that of strategy_chess, valid from
 * its init() on.
 */
#ifndef SCHED_CHESS_H
#define SCHED_CHESS_H

#include "sched/strategy.h"

#define CHESS_FRAMES 8192u	/* choices of a run that have alternatives; bounds memory */
#define CHESS_THREADS 64u	/* most threads of a run: sets of threads are 64 bits */

struct chess_status {
	uint32_t bound;		/* number of preemptions that the present round allows */
	uint64_t runs;		/* number of runs that have ended, in all rounds */
	uint64_t redundant;	/* number of these that turned out equivalent to an earlier run */
	/* A run had more choices or threads than fit: alternatives were left out. */
	bool truncated;
	/* A run did not repeat its prefix: the program is not deterministic. */
	bool diverged;
};

void chess_status(const void *state, struct chess_status *out);

#endif

/*
 * Delta debugging (Zeller and Hildebrandt, TSE 2002) of a failing interleaving. Turns are removed,
 * or a thread runs on until it blocks. A change stays if the run still fails with fewer switches,
 * or with as many switches and fewer preemptions.
 *
 * Turns are positions (shrink_positions()) as the strategy `loose` takes them. A turn that was
 * removed therefore delays the thread's steps to its next turn, and does not shift other turns. How
 * a run is made is up to the callback `fails`.
 */
#ifndef EXPLORE_BUG_DELTA_DEBUG_H
#define EXPLORE_BUG_DELTA_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/plan.h"

/* A run that the callback `fails` made. */
struct delta_debug_run {
	struct sched_turn *turns;	/* positions; valid until the next call of `fails` */
	size_t count;
	uint64_t switches, preemptions;	/* numbers of both; fewer switches make a run smaller */
};

struct delta_debug_config {
	/* Makes a run by these turns. If it fails alike, fills *got and returns true. */
	bool (*fails)(void *ctx, const struct sched_turn *turns, size_t count,
		      struct delta_debug_run *got);
	/* Called after the run with the fewest switches so far, which is *got. */
	void (*keep)(void *ctx, const struct delta_debug_run *got);
	/* Returns true to end the search early; NULL: never. */
	bool (*should_stop)(void *ctx);
	void *ctx;
	unsigned most;		/* maximum number of runs, at least 1 */
	bool thorough;		/* of a short run, also try every single preemption */
};

struct delta_debug_result {
	bool reproduced;	/* the turns as given failed alike; else no other run was made */
	unsigned runs;		/* number of runs made */
	uint64_t from;		/* number of switches with the turns as given */
	uint64_t switches, preemptions;	/* numbers of both in the smallest run */
};

/* Searches from the run with these turns for a smaller one. Results: config->keep() and *out. */
void delta_debug_turns(const struct delta_debug_config *config, const struct sched_turn *turns,
		       size_t count, struct delta_debug_result *out);

/*
 * Converts turns in place to positions: `steps` becomes the total steps that the thread has taken
 * by the end of the turn, and adjacent turns of one thread become one. Returns their number.
 *
 *	turns	  A 3, B 2, A 4, A 1
 *	positions A 3, B 2, A 8
 */
size_t shrink_positions(struct sched_turn *turns, size_t count);

#endif

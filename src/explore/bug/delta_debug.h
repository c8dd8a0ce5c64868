/*
 * Delta debugging (Zeller and Hildebrandt, TSE 2002) of a failing interleaving. A change removes
 * turns, or lets a thread run until it blocks. It is kept if the run still fails and has fewer
 * switches, or as many switches and fewer preemptions.
 *
 * Turns are positions (delta_debug_positions()), as in plans of the strategy `loose`. So if a turn
 * is removed, the thread takes its steps in its next turn, and no other turn shifts. The callback
 * `fails` makes the runs.
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
	uint64_t switches, preemptions;	/* numbers of both in the run */
};

struct delta_debug_config {
	/* Makes a run by these turns. If it fails alike, fills *got and returns true. */
	bool (*fails)(void *ctx, const struct sched_turn *turns, size_t count,
		      struct delta_debug_run *got);
	/* Called after each run that is the smallest so far, which is *got. */
	void (*keep)(void *ctx, const struct delta_debug_run *got);
	/* Returns true to end the search early; NULL: never. */
	bool (*should_stop)(void *ctx);
	void *ctx;
	unsigned most;		/* maximum number of runs, at least 1 */
	bool thorough;		/* if the run is short, also try every single preemption */
};

struct delta_debug_result {
	bool reproduced;	/* the given turns failed alike; if not, no other run was made */
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
size_t delta_debug_positions(struct sched_turn *turns, size_t count);

#endif

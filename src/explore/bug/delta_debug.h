/*
 * A failing interleaving made smaller, by delta debugging (Zeller and Hildebrandt, TSE
 * 2002) over its turns: turns are left out, or a thread is let run on until it cannot,
 * and what still fails with fewer switches is kept.
 *
 * Turns are positions as the strategy `loose` takes them. How a run is made is the
 * caller's.
 */
#ifndef EXPLORE_BUG_DELTA_DEBUG_H
#define EXPLORE_BUG_DELTA_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/plan.h"

/* A run: what it did, and what that costs. */
struct delta_debug_run {
	struct sched_turn *turns;	/* positions; of the caller's callback, good until the next call */
	size_t count;
	uint64_t switches, preemptions;
};

struct delta_debug_config {
	/* Makes a run by these turns. True: it fails as the first one did, and *got says how it went. */
	bool (*fails)(void *ctx, const struct sched_turn *turns, size_t count, struct delta_debug_run *got);
	/* *got is the best so far. */
	void (*keep)(void *ctx, const struct delta_debug_run *got);
	/* Come to an end; or NULL. */
	bool (*should_stop)(void *ctx);
	void *ctx;
	unsigned most;		/* runs, at least 1 */
	bool thorough;		/* of a short run, try all that have a single preemption, too */
};

struct delta_debug_result {
	bool reproduced;		/* the turns as given failed; else nothing was done */
	unsigned runs;
	uint64_t from;		/* switches of the turns as given */
	uint64_t switches, preemptions;	/* of the best */
};

void delta_debug_turns(const struct delta_debug_config *config, const struct sched_turn *turns, size_t count,
		  struct delta_debug_result *out);

/*
 * The turns of a run, steps of each, become positions; neighbours of one thread become
 * one. Returns how many are left.
 */
size_t shrink_positions(struct sched_turn *turns, size_t count);

#endif

/*
 * A failure with as few switches between threads, and as few orders of its goal part, as
 * it takes: each attempt is a run under the oracle of its schedule, and counts if it
 * fails as the first one did (failure, number, places).
 */
#ifndef EXPLORE_BUG_MINIMISE_H
#define EXPLORE_BUG_MINIMISE_H

#include "explore/lead/lead.h"
#include "explore/search/attempt.h"
#include "explore/search/failure.h"

#define MINIMISE_RUNS 400u	/* for the switches of a bug, at most */
#define MINIMISE_GOAL_RUNS 150u	/* … and for its goals */
#define MINIMISE_SECONDS 10.0

struct minimised {
	bool done;		/* it failed again when followed loosely; else nothing is known */
	uint64_t from;		/* switches at first */
	uint64_t switches, preemptions;	/* … and now */
	unsigned runs;
	bool has_lead;		/* the orders of the failure's lead still come about */
};

/*
 * Schedule, report, result and output of `f` become those of the smallest run that was
 * found; with `keep_lead`, of those that have the orders of its lead, and with the checks
 * of its events. -1 if the program cannot be run.
 */
int minimise_switches(struct search_failure *f, struct attempt *a, bool keep_lead,
		      struct places *places, struct minimised *out);

/* The turns of a schedule as the strategy `loose` wants them; *out is the caller's to free. */
size_t minimise_positions(const struct schedule *s, struct sched_turn **out);

/*
 * Drops what is not needed of the schedule's goals: an order without which directed runs
 * fail as often. If none fails with all of them, all stay.
 */
int minimise_goals(struct search_failure *f, struct attempt *a, struct places *places);

/* What comes of runs that are directed by some orders. */
struct minimise_tally {
	unsigned failing;	/* as the failure did */
	unsigned harmless;	/* had all of the orders, and passed */
};

/* Makes a dozen of them. */
void minimise_count_directed(struct search_failure *f, const struct lead *lead, struct attempt *a,
		       struct places *places, struct minimise_tally *out);

/*
 * A run directed by a lead that failed, in whatever way, or NULL. `like`: a failure of
 * the same program.
 */
struct search_failure *minimise_fail_directed(const struct search_failure *like, const struct lead *lead,
				       struct attempt *a, struct places *places);

#endif

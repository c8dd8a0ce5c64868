/*
 * Makes a failure smaller: fewer switches between threads, fewer goals in its schedule. Each
 * attempt is a run that the schedule's oracle judges. A run fails alike if its failure has the same
 * kind, number (signal or exit code) and lines. Also makes runs directed by the orders of a lead.
 */
#ifndef EXPLORE_BUG_MINIMISE_H
#define EXPLORE_BUG_MINIMISE_H

#include "explore/lead/lead.h"
#include "explore/search/attempt.h"
#include "explore/search/failure.h"

#define MINIMISE_RUNS 400u	/* at most, for the switches of a bug */
#define MINIMISE_GOAL_RUNS 150u	/* at most, for the goals of a bug */
#define MINIMISE_SECONDS 10.0	/* at most, for each of the two */

struct minimised {
	bool done;		/* `loose` reproduced the failure; if not, only `runs` is not 0 */
	uint64_t from;		/* number of switches before */
	uint64_t switches, preemptions;	/* number of switches and preemptions of the smallest run */
	unsigned runs;		/* number of runs made */
	bool has_lead;		/* the smallest run still has the orders of the failure's lead */
};

/*
 * Removes switches. Schedule, report, result and output of `f` become those of the smallest run
 * that fails alike. With `keep_lead` only runs that have the orders of f->lead count, and the
 * schedule gets checks of its events. -1 if the program cannot be run.
 */
int minimise_switches(struct search_failure *f, struct attempt *a, bool keep_lead,
		      struct places *places, struct minimised *out);

/*
 * Converts the turns of a schedule to the positions that the strategy `loose` expects
 * (delta_debug.h). Returns their number; the caller frees *out.
 */
size_t minimise_positions(const struct schedule *s, struct sched_turn **out);

/*
 * Drops each goal of the schedule without which directed runs fail as often and pass no more often.
 * Keeps all goals if no directed run fails. -1 if the program cannot be run.
 */
int minimise_goals(struct search_failure *f, struct attempt *a, struct places *places);

/* Outcomes of runs that the strategy `goal` directs by some orders. */
struct minimise_tally {
	unsigned failing;	/* number of runs that failed as the failure did */
	unsigned harmless;	/* number of runs that had all orders and passed */
};

/* Makes twelve runs directed by the orders of a lead and counts their outcomes. */
void minimise_count_directed(struct search_failure *f, const struct lead *lead, struct attempt *a,
			     struct places *places, struct minimise_tally *out);

/*
 * Makes up to six runs directed by the orders of a lead. Returns the first that fails in this
 * order, in whatever way; NULL: none. `like`: any failure of the program.
 */
struct search_failure *minimise_fail_directed(const struct search_failure *like,
					      const struct lead *lead, struct attempt *a,
					      struct places *places);

#endif

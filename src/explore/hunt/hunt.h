/*
 * snarl hunt: record a few runs, predict which orders of their events could fail, and make runs
 * with these orders. Stages:
 *
 *   profile  a few controlled runs find out which memory is shared; the same runs are made again
 *            and recorded, until no run finds more shared memory
 *   predict  the analyses make candidates from each trace, which become leads (lead.h)
 *   prove    each lead is tried in several runs. A run follows the profile run up to where a thread
 *            has to wait, then the strategy `goal` enforces the order. Leads whose events do not
 *            overlap in time first share a run
 *   search   the rest of the budget: runs by several strategies, more by those that found new
 *            interleavings lately. Runs that showed much new behaviour are recorded, and the
 *            leads of their traces are proved
 *   cover    instead of search: runs directed at iRoots that no run exposed (cover_chase.h)
 *
 * With several inputs each stage runs with all of them. The results follow from program, inputs and
 * seed; they do not depend on the number of jobs, nor on snapshots.
 */
#ifndef EXPLORE_HUNT_HUNT_H
#define EXPLORE_HUNT_HUNT_H

#include "explore/cover/cover_record.h"
#include "explore/lead/lead.h"
#include "explore/search/search.h"
#include "explore/target/inputs.h"

/* The stages above; HUNT_COVER takes the place of HUNT_SEARCH. */
enum hunt_stage { HUNT_PROFILE, HUNT_PREDICT, HUNT_PROVE, HUNT_SEARCH, HUNT_COVER };

struct hunt_stats {
	enum hunt_stage stage;
	uint64_t predicted;	/* number of candidates of all traces, before pruning */
	uint64_t seen;		/* number of these that happened in a run that passed: pruned */
	uint64_t doubtful;	/* number of leads that values read seem to rule out: tried late */
	uint64_t leads;		/* number of leads to be tried: neither pruned nor suppressed */
	uint64_t suppressed;	/* number of leads that are not tried, being suppressed */
	uint64_t grouped;	/* number of leads that were tried together with others */
	/* Number of leads by outcome (enum lead_outcome); `left` is those not tried yet. */
	uint64_t left, proved, harmless, infeasible, unreached;
	uint64_t saturated;	/* config.saturation if that limit ended the hunt, else 0 */
	uint64_t chased;	/* number of iRoots that runs were directed at */
	uint64_t chased_exposed;	/* number of these that were exposed */
	const struct cover *cover;	/* iRoot database; NULL: no coverage is kept */
	size_t cut;		/* number of traces whose analysis was cut short for lack of time */
	char no_trace[256];	/* why the last recording or analysis of a run failed; "" */
	const struct leads *list;	/* all leads with their outcomes */
};

struct hunt_config {
	struct search_config search;	/* for all stages; strategy and memory are not used */
	struct search_listener listener;	/* gets failures and progress of all stages */
	struct inputs *inputs;	/* inputs of the program; NULL: its own arguments and stdin */
	unsigned profiles;	/* number of profile runs of each input */
	uint64_t saturation;	/* end after this number of runs without anything new; 0: never */
	uint64_t snapshots;	/* prefixes of at least this many steps are run once; 0: never */
	bool (*wanted)(void *ctx, const struct lead *lead);	/* true: try this lead; NULL: all */
	void *ctx;		/* argument of `wanted` */
	const struct suppressions *suppress;	/* or NULL; outlives the hunt */
	struct cover *cover;	/* expose its untested iRoots instead of searching; or NULL */
};

struct hunt;

struct hunt *hunt_new(const struct hunt_config *config);
void hunt_free(struct hunt *h);	/* frees the leads too, to which failures refer */

/* Runs all stages. -1 if the program cannot be run. */
int hunt_run(struct hunt *h, struct err *err);

/*
 * The leads known so far, the likeliest first: the callback of struct cause_source; ctx is the
 * hunt. If a run fails while nothing is predicted yet, the first call makes and analyses passing
 * runs.
 */
const struct leads *hunt_leads(void *ctx);

const struct hunt_stats *hunt_stats(const struct hunt *h);
const char *hunt_stage_name(enum hunt_stage stage);

#endif

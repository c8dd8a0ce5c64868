/*
 * What the files of the hunt share: stages.c (profile, predict, the order of the stages), prove.c,
 * search_stage.c and cover_stage.c.
 */
#ifndef EXPLORE_HUNT_HUNT_INTERNAL_H
#define EXPLORE_HUNT_HUNT_INTERNAL_H

#include "explore/hunt/hunt.h"
#include "explore/search/greybox.h"
#include "explore/search/observe.h"
#include "explore/search/strategy_shares.h"

struct proof_attempt;

/* Granules that runs with one input found shared. */
struct hunt_granules {
	uint64_t *granules;
	size_t count, capacity;
};

/* A failure of a run with a group of leads, reported after each lead was tried alone. */
struct hunt_postponed {
	struct search_failure *failure;
	size_t input;		/* index of the input of the run */
};

struct hunt {
	struct hunt_config config;
	struct places *places;	/* that of config.search */
	struct search_stats *runs;	/* that of config.search: counts the runs of all stages */
	struct search_listener listener;	/* for all searches; calls config.listener */
	struct search_memory memory;	/* its granules are those of the current input */
	struct hunt_granules *of_input;	/* by input: granules; empty for the current one */
	size_t input;		/* index of the current input */
	struct inputs no_inputs;	/* stands in for config.inputs if that is NULL */
	struct leads leads;
	/* Leads of passing runs, if a run fails while nothing is predicted yet: hunt_leads(). */
	struct leads passing_leads;
	bool passing_known;	/* `passing_leads` is filled in */
	struct search_memory failing;	/* the granules that this failing run knew to be shared */
	struct hunt_stats stats;
	struct profile *profiles;	/* recorded runs; lead.profile is an index of it */
	size_t profile_count, profile_capacity;
	/* prove.c */
	struct proof_attempt *attempts;	/* runs of the current pass; NULL: not proving */
	uint64_t attempt_count;
	uint64_t counted;	/* number of attempts whose outcomes count */
	bool grouping;		/* each attempt tries a group of leads */
	struct hunt_postponed *postponed;
	size_t postponed_count, postponed_capacity;
	/* search_stage.c */
	struct feedback feedback;	/* divides the runs of a slice among the strategies */
	struct greybox greybox;	/* state of the strategy `feedback` */
	uint64_t searched;	/* number of runs in earlier slices */
	struct profile best;	/* the passing run of this slice that showed most new behaviour */
	uint64_t best_new, best_run;	/* new behaviour of `best`, in switches; its run number */
	size_t profiles_most;	/* limit of profile_count in this stage */
	bool stopped;		/* the listener answered to stop, or the program cannot be run */
	double began;		/* clock_seconds() at the start */
	struct deadline late;	/* of analyses that explain a failure */
};

#define HUNT_GROUP_MOST 6u	/* leads in one run: few to try alone if the run fails */
#define HUNT_TRIES_FIRST 3u	/* ways to try each lead before the search begins */
#define HUNT_TRIES 9u		/* ways to try each lead in all */

/* Begins a stage: fills in *out, the config of its searches. False if the budget is used up. */
bool hunt_begin(struct hunt *h, enum hunt_stage stage, struct search_config *out);

/* Makes `input` the current one, with its granules; -1 if it cannot be read. */
int hunt_select(struct hunt *h, size_t input, struct err *err);

/*
 * Makes a run and records it. True: there is a trace, and a new profile. False: the run failed and
 * was reported, or there is no trace.
 */
bool hunt_record_run(struct hunt *h, const struct search_config *config,
		     const struct profile_order *order);

/*
 * hunt_predict() adds the leads of the trace of a profile; -1 if it cannot be read. hunt_sort()
 * then removes leads for which config.wanted returns false, and sorts.
 */
int hunt_predict(struct hunt *h, const char *path, size_t profile);
void hunt_sort(struct hunt *h);

/* Makes a temporary folder for traces; returns its path, to be freed; NULL: error. */
char *hunt_folder(struct err *err);

/* Reports a failure that did not come from search_next(), unless it is like one before. */
void hunt_report(struct hunt *h, struct search_failure *f);

/*
 * prove.c: tries each lead in its next ways, up to the first `until` of HUNT_TRIES, as far as the
 * budget allows. -1 if the program cannot be run.
 */
int hunt_prove(struct hunt *h, unsigned until, struct err *err);

/* If a run failed in the order of its lead, sets the failure's lead and its schedule's goals. */
void hunt_prove_attribute(struct hunt *h, struct search_failure *f);

/* Ends the pass with this run: the outcomes of later ones do not count. */
void hunt_prove_end_at(struct hunt *h, uint64_t run);

/* Sets the counts of leads by outcome in h->stats. */
void hunt_count(struct hunt *h);

/* cover_stage.c: directs the rest of the runs at untested iRoots. -1: the program cannot be run. */
int hunt_cover(struct hunt *h, struct err *err);

/* search_stage.c: searches with the rest of the runs. -1: the program cannot be run. */
int hunt_search(struct hunt *h, struct err *err);

#endif

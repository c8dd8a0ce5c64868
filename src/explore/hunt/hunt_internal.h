/*
 * What stages.c (profile, predict, all in order), prove.c, search_stage.c and cover_stage.c share.
 */
#ifndef EXPLORE_HUNT_HUNT_INTERNAL_H
#define EXPLORE_HUNT_HUNT_INTERNAL_H

#include "explore/hunt/hunt.h"
#include "explore/search/greybox.h"
#include "explore/search/observe.h"
#include "explore/search/strategy_shares.h"

struct proof_attempt;

/* Shared memory as the runs with one input know it. */
struct hunt_granules {
	uint64_t *granules;
	size_t count, capacity;
};

struct hunt_postponed {
	struct search_failure *failure;
	size_t input;
};

struct hunt {
	struct hunt_config config;
	struct places *places;	/* of config.search */
	struct search_stats *runs;
	struct search_listener listener;	/* of all its searches; tells that of the config */
	struct search_memory memory;	/* its granules are those of the input selected */
	struct hunt_granules *of_input;	/* … and those of the others */
	size_t input;
	struct inputs no_inputs;		/* if there are no others */
	struct leads leads;
	struct leads others;	/* of runs that pass, if one failed before anything was predicted */
	bool others_known;		/* … they are known */
	struct search_memory failing;	/* … what that one knew to be shared: granules alone */
	struct hunt_stats stats;
	struct profile *profiles;	/* runs that were watched */
	size_t profile_count, profile_capacity;
	/* prove.c: the runs under way. */
	struct proof_attempt *attempts;
	uint64_t attempt_count, counted;	/* … how many of them count */
	bool grouping;			/* … each with several leads */
	struct hunt_postponed *postponed;	/* failures of such runs, until each lead was tried alone */
	size_t postponed_count, postponed_capacity;
	/* search_stage.c */
	struct feedback feedback;
	struct greybox greybox;	/* one of the ways */
	uint64_t searched;	/* runs of slices before */
	struct profile best;	/* the run of this slice that found most that is new */
	uint64_t best_new, best_run;
	size_t profiles_most;	/* profiles in all */
	bool stopped;		/* the one who asked has enough */
	double began;
};

#define HUNT_GROUP_MOST 6u	/* leads that are tried in one run */
#define HUNT_TRIES_FIRST 3u	/* ways to try a lead before the search begins */
#define HUNT_TRIES 9u		/* … and in all */

/* The part of a search that a stage is; false if nothing is left of the budget. */
bool hunt_begin(struct hunt *h, enum hunt_stage stage, struct search_config *out);


/* Another input; -1 if it cannot be read. */
int hunt_select(struct hunt *h, size_t input, struct err *err);

/*
 * Makes a run with a trace. True: there is a trace, and a profile of it; false: the run failed,
 * which was reported, or has no trace. hunt_predict() adds what the trace of a profile predicts;
 * hunt_sort() sorts these candidates in.
 */
bool hunt_record_run(struct hunt *h, const struct search_config *config, const struct profile_order *order);
int hunt_predict(struct hunt *h, const char *path, size_t profile);
void hunt_sort(struct hunt *h);

/* A folder for traces, to be freed; NULL: error. */
char *hunt_folder(struct err *err);

/*
 * prove.c: tries all leads in the first `until` ways, as far as they were not and the
 * budget allows it. -1 if the program cannot be run.
 */
int hunt_prove(struct hunt *h, unsigned until, struct err *err);
void hunt_prove_attribute(struct hunt *h, struct search_failure *f);	/* names its lead */
void hunt_report(struct hunt *h, struct search_failure *f);	/* a failure outside a search */
void hunt_prove_end_at(struct hunt *h, uint64_t run);	/* later runs do not count */
void hunt_count(struct hunt *h);

/* cover_stage.c */
int hunt_cover(struct hunt *h, struct err *err);

/* search_stage.c */
int hunt_search(struct hunt *h, struct err *err);

#endif

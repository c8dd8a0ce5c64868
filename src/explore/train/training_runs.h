/*
 * Makes the training runs of `snarl learn`, and passes their traces to the learner. There are
 * parallel runs, controlled runs with few switches, and probes: controlled runs with many switches
 * that try to break the invariants found so far.
 */
#ifndef EXPLORE_TRAIN_TRAINING_RUNS_H
#define EXPLORE_TRAIN_TRAINING_RUNS_H

#include "explore/search/search.h"
#include "learn/learner.h"

struct training_tally {
	uint64_t made, passed;	/* number of runs read; number of these that passed */
	/* Number of runs in a row, probes aside, from which nothing new was learnt. */
	uint64_t runs_since_new;
	uint64_t probes;	/* number of passing probes in a row that broke no invariant */
	uint64_t failing;	/* number of probes that failed in the meantime */
	bool probing;		/* some invariant was found that other runs could break */
	bool saturated;		/* training ended because nothing new was learnt */
	struct store_news all;	/* what was learnt from all passing runs, added up */
};

struct training_config {
	/* Of all runs; strategy and memory are ignored. plan.jobs: most traces read at a time. */
	struct search_config search;
	const char *scratch;	/* folder for traces */
	/* Number of runs in a row without anything new that end training; 0: no such end. */
	uint64_t stable;
	uint64_t threshold;	/* most passing runs that may break an invariant */
	bool schedules;		/* make only controlled runs, with many switches */
	bool parallel;		/* make only parallel runs */
	/* Called after each run. `probing`: from now on all runs are probes. */
	void (*progress)(void *ctx, const struct training_tally *t, bool probing);
	/* Called if the program cannot be controlled: all further runs are parallel. */
	void (*uncontrolled)(void *ctx, const struct err *err);
	void *ctx;
};

/* Makes runs until nothing new is learnt, or the budget is spent. -1 if that is impossible. */
int training_make(const struct training_config *config, struct learner *l, struct training_tally *t,
		  struct err *err);

/* Adds to *t what was learnt from a passing run. */
void training_add(struct training_tally *t, const struct store_news *n);

#endif

/*
 * The runs that the learner learns from: mostly parallel ones, some under control so that threads
 * meet, and probes of what no run has broken yet.
 */
#ifndef EXPLORE_TRAIN_TRAINING_RUNS_H
#define EXPLORE_TRAIN_TRAINING_RUNS_H

#include "explore/search/search.h"
#include "learn/learner.h"

struct training_tally {
	uint64_t made, passed;
	uint64_t quiet;		/* runs in a row without news */
	uint64_t probes;	/* probes in a row that broke no invariant */
	uint64_t failing;	/* besides these, probes that failed */
	bool probing;		/* there was an invariant that other runs could break */
	bool settled;		/* ended because nothing was new */
	struct store_news all;
};

struct training_config {
	struct search_config search;	/* of all runs, but for strategy and memory; jobs: runs that are read at a time */
	double began;		/* by attempt_now(): the budget's seconds count from here */
	const char *scratch;	/* a folder for traces */
	uint64_t stable;	/* end after so many runs in a row without news; 0: never */
	uint64_t threshold;	/* passing runs that may break an invariant */
	bool schedules, parallel;	/* only such runs */
	/* After each run; `probing`: nothing but probes is made by now. */
	void (*progress)(void *ctx, const struct training_tally *t, bool probing);
	/* The program cannot be controlled: all runs are parallel from here on. */
	void (*uncontrolled)(void *ctx, const struct err *err);
	void *ctx;
};

/* Makes runs until nothing is new or the budget is spent. -1 if that cannot be done. */
int training_make(const struct training_config *config, struct learner *l, struct training_tally *t,
		  struct err *err);

/* Adds what a passing run taught. */
void training_add(struct training_tally *t, const struct store_news *n);

#endif

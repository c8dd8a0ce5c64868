/*
 * The tool's half of the strategy `feedback`: coverage-guided ("greybox") search over schedules.
 * Coverage is the set of dependencies between sites (ctl_block.depends). Some runs mutate schedules
 * of the corpus, the others use strategies that start from scratch: pos, surw, random, pct. Each of
 * the five gets runs in proportion to the new coverage per run that it found lately.
 *
 * sched/feedback.c is the runtime's half: it follows the mutated turns.
 *
 *	greybox_config(&config);
 *	s = search_open(&config, &err);
 *	while ((event = search_next(s, &run, &err)) > 0) {
 *		greybox_event(&greybox, seed, event, &run);
 *		…
 *	}
 */
#ifndef EXPLORE_SEARCH_GREYBOX_H
#define EXPLORE_SEARCH_GREYBOX_H

#include "explore/search/corpus.h"
#include "explore/search/search.h"

#define GREYBOX_STRATEGIES 5u	/* mutation and four strategies that start from scratch */

struct greybox {
	struct corpus corpus;
	uint64_t base;		/* number of the search's first run, over all searches */
	/* By strategy: its runs before this generation and their new bits, halved each time. */
	uint64_t runs[GREYBOX_STRATEGIES], found[GREYBOX_STRATEGIES];
	/* By strategy: its runs in this generation, and their new bits. */
	uint64_t runs_now[GREYBOX_STRATEGIES], found_now[GREYBOX_STRATEGIES];
};

void greybox_free(struct greybox *g);

/* Room for a mutation, for server_config.plan_size. */
#define GREYBOX_PLAN_SIZE (sizeof(struct sched_plan) + CORPUS_TURNS * sizeof(struct sched_turn))

/* Sets the strategy of `config` to `feedback`, and plan_size to the size it needs. */
void greybox_config(struct search_config *config);

/* Handles an event of a search whose runs all use this strategy. */
void greybox_event(struct greybox *g, uint64_t seed, int event, const struct search_run *run);

/*
 * The parts of greybox_event(), for a search of which only some runs use this strategy. Run numbers
 * start from 0.
 *
 * greybox_ended() may be called for any run, and returns how many of its bits are new. It credits
 * these to the strategy that greybox_begin() draws for that run number, even if it was not called.
 */
void greybox_begin(const struct greybox *g, uint64_t seed, const struct search_run *run);
uint32_t greybox_ended(struct greybox *g, uint64_t seed, const struct search_run *run);
void greybox_generation(struct greybox *g);

#endif

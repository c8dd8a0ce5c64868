/*
 * The strategy `feedback`: schedules that showed new dependencies between places
 * (ctl_block.depends) are kept and changed; other runs are made anew by other strategies. Of all
 * these ways those get more runs that lately showed more.
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

#define GREYBOX_WAYS 5u

struct greybox {
	struct corpus corpus;
	uint64_t base;		/* number of the first run of the search */
	/* Runs of each way and what they showed, the older ones the less; as of the last generation, and since. */
	uint64_t runs[GREYBOX_WAYS], found[GREYBOX_WAYS];
	uint64_t runs_now[GREYBOX_WAYS], found_now[GREYBOX_WAYS];
};

void greybox_free(struct greybox *g);

#define GREYBOX_PLAN_SIZE (sizeof(struct sched_plan) + CORPUS_TURNS * sizeof(struct sched_turn))

/* Makes the config one of this strategy, with room for its plans. */
void greybox_config(struct search_config *config);

/* What the strategy does at each event of a search that is all its own. */
void greybox_event(struct greybox *g, uint64_t seed, int event, const struct search_run *run);

/*
 * For a search of which only some runs are by this strategy; run numbers from 0.
 * greybox_ended() returns how many dependencies of the run are new.
 */
void greybox_begin(const struct greybox *g, uint64_t seed, const struct search_run *run);
uint32_t greybox_ended(struct greybox *g, uint64_t seed, const struct search_run *run);
void greybox_generation(struct greybox *g);

#endif

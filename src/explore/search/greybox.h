/*
 * A search by the strategy `feedback`: schedules that showed new dependencies between places
 * (ctl_block.depends) are kept and changed; other runs are made anew by other strategies. Of all
 * these ways those get more runs that lately showed more.
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

/*
 * search_config.shape, judged and generation, for who has such hooks already; run numbers from 0.
 * judged() says how many dependencies are new.
 */
void greybox_shape(const struct greybox *g, uint64_t seed, uint64_t run, struct server *s);
uint32_t greybox_judged(struct greybox *g, uint64_t seed, uint64_t run, const struct server *s);
void greybox_generation(struct greybox *g);
#define GREYBOX_PLAN_SIZE (sizeof(struct sched_plan) + CORPUS_TURNS * sizeof(struct sched_turn))

/* As search_run(), with the hooks of `config` but these three. *g is zero at first, or goes on. */
int greybox_run(struct greybox *g, const struct search_config *config, struct places *places,
		struct search_stats *stats, struct err *err);

#endif

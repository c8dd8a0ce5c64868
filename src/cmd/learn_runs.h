/*
 * The runs that snarl learn learns from.
 */
#ifndef CMD_LEARN_RUNS_H
#define CMD_LEARN_RUNS_H

#include "cmd/session.h"
#include "learn/learner.h"

struct learn_runs {
	struct explore_options explore;
	uint64_t stable, threshold;
	bool schedules, parallel;	/* only these; without: mostly parallel ones */
};

struct learn_tally {
	uint64_t made, passed;
	uint64_t quiet;		/* in a row without news */
	uint64_t probes;	/* in a row that broke no invariant */
	uint64_t failing;	/* besides these, such as failed */
	bool probing;		/* there was an invariant that others could break */
	bool settled;		/* ended because nothing was new */
	struct store_news all;
};

/* Until nothing is new, or as the options say. */
int learn_make_runs(const struct learn_runs *o, struct session *s, struct learner *l, struct learn_tally *t,
		    struct err *err);
void learn_add_news(struct learn_tally *t, const struct store_news *n);

#endif

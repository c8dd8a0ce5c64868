/*
 * Makes the runs of one search and adds their iRoots to the database.
 */
#include "explore/cover/cover_search.h"

#include <stdio.h>

#include "base/mem.h"

/* The mix of strategies: one per run, in turn. */
static const struct {
	const char *strategy;
	uint32_t permille;	/* switch_permille; 0: default */
} mix[] = {
	{ "random", 20 }, { "pct", 0 }, { "pos", 0 }, { "random", 200 }, { "surw", 0 },
	{ "pct-large", 0 }, { "delay", 0 }, { "random", 500 },
};

static void begin(const struct cover_search *x, const struct search_run *run)
{
	struct ctl_request *q = server_request(run->server);

	q->flags |= CTL_PROFILE;
	if (x->parallel)
		/* A name for the database. */
		snprintf(q->strategy, sizeof(q->strategy), "parallel");
	if (x->parallel || x->search.plan.strategy)
		return;
	snprintf(q->strategy, sizeof(q->strategy), "%s",
		 mix[run->number % ARRAY_SIZE(mix)].strategy);
	q->switch_permille = mix[run->number % ARRAY_SIZE(mix)].permille;
}

/* Adds a run to the database. True: the search is to end, by saturation or an error in *result. */
static bool add_run(struct cover_search *x, struct cover *c, const struct search_run *run,
		    int *result, struct err *err)
{
	struct memo_run r;

	*result = cover_add_run(c, run, &r, err);
	if (*result < 0)
		return true;
	x->failed += r.failed;
	x->exposed += r.new_exposed;
	x->predicted += r.new_predicted;
	x->without_new =
		r.new_predicted || (r.new_exposed && !x->predicted_only) ? 0 : x->without_new + 1;
	x->saturated = x->saturation && x->without_new >= x->saturation;
	return x->saturated;
}

static struct search_config configure(const struct cover_search *x, struct cover *c)
{
	struct search_config config = x->search;

	cover_config(c, &config.program.server);
	if (x->parallel) {
		config.program.server.exec = true;
		config.program.server.options = "mode=profile";
	}
	config.plan.keep_going |= !x->listener.found;
	if (!config.plan.strategy)
		config.plan.strategy = strategy_find(mix[0].strategy);
	return config;
}

int cover_search_run(struct cover_search *x, struct cover *c, struct err *err)
{
	const struct search_config config = configure(x, c);
	struct search *s = search_open(&config, err);
	struct err writing, flushing;
	struct search_run run;
	int event, written = 0;

	while ((event = search_next(s, &run, err)) > 0)
		if (event == SEARCH_BEGIN)
			begin(x, &run);
		else if (event == SEARCH_ENDED && written == 0 &&
			 add_run(x, c, &run, &written, &writing))
			search_stop(s);
		else
			search_report(event, &run, &x->listener);
	search_close(s);
	if (written < 0) {
		*err = writing;
		return -1;
	}
	if (cover_flush(c, &flushing) < 0 && event == 0) {
		*err = flushing;
		return -1;
	}
	return event;
}

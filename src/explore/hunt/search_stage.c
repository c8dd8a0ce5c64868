/*
 * The search stage: slices of runs by several strategies. Strategies that found new interleavings
 * lately get more runs of the next slice. The passing run of a slice that showed most new behaviour
 * is made again and recorded, and the leads of its trace are proved. The stage ends when no run
 * showed anything new for config.saturation runs.
 */
#include "explore/hunt/hunt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define SLICE_LEAST 32u		/* runs of the first slice of each input; later slices are longer */
#define RECORD_LEAST 4u		/* new switches that make a run worth a trace */
#define DEPENDENCY_WORTH 16u	/* new switches that one new dependency between sites counts as */
#define RECORDED_MOST 64u	/* traces in this stage: bounds the time of analyses */

static const struct {
	const char *strategy;
	uint32_t depth;
} ways[FEEDBACK_WAYS] = {
	{ "pct", 3 }, { "pos", 0 }, { "random", 0 }, { "surw", 0 }, { "feedback", 0 },
};

/* Fills in the request of a run, by the strategy that strategy_shares.h chose for it. */
static void begin(const struct hunt *h, const struct search_run *run)
{
	struct ctl_request *q = server_request(run->server);
	unsigned way = h->feedback.way[run->number];

	q->flags |= CTL_DEPENDS;
	if (way == FEEDBACK_WAYS - 1) {
		greybox_begin(&h->greybox, h->config.search.plan.seed, run);
		return;
	}
	snprintf(q->strategy, sizeof(q->strategy), "%s", ways[way].strategy);
	q->depth = ways[way].depth;
	q->run = h->searched + run->number;
}

/* Counts the new behaviour of a run. Keeps the passing run with most of it in h->best. */
static void record_outcome(struct hunt *h, const struct search_run *run)
{
	const struct ctl_block *b = run->server->block;
	uint64_t switches = feedback_note(&h->feedback, run->number, b);
	uint64_t bits = greybox_ended(&h->greybox, h->config.search.plan.seed, run);
	uint64_t fresh = bits * DEPENDENCY_WORTH + switches;

	/* Of equal runs the lowest number counts: the number of jobs must not matter. */
	if (run->result->verdict != ORACLE_PASSED || fresh < RECORD_LEAST || fresh < h->best_new ||
	    (fresh == h->best_new && run->number > h->best_run))
		return;
	profile_free(&h->best);
	h->best.turns = profile_turns(b, &h->best.count);
	h->best.known = b->request.shared_count;
	h->best_new = fresh;
	h->best_run = run->number;
}

/* Repeats and records the best run of the slice, and proves the new leads of its trace. */
static int record_best(struct hunt *h, struct err *err)
{
	struct profile_order order = { .again = &h->best };
	struct search_config config;
	size_t known = h->leads.count;
	struct err why;
	char *folder, *path;

	if (!h->best.turns || h->profile_count >= h->profiles_most ||
	    !hunt_begin(h, HUNT_PROFILE, &config))
		return 0;
	folder = hunt_folder(&why);
	if (!folder)
		return 0;
	order.path = path = xasprintf("%s/best", folder);
	if (hunt_record_run(h, &config, &order))
		hunt_predict(h, path, h->profile_count - 1);
	unlink(path);
	rmdir(folder);
	free(path);
	free(folder);
	hunt_sort(h);
	if (h->leads.count == known)
		return 0;
	h->feedback.runs_since_new = h->feedback.longest = 0;
	return hunt_prove(h, HUNT_TRIES_FIRST, err);
}

static int search_slice(struct hunt *h, const struct search_config *budget, uint64_t runs,
			struct err *err)
{
	struct search_config config = *budget;
	struct search_run run;
	struct search *s;
	int event;

	if (!config.budget.runs || config.budget.runs > runs)
		config.budget.runs = runs;
	config.program.server.plan_size = GREYBOX_PLAN_SIZE;
	feedback_begin(&h->feedback, config.budget.runs);
	h->best_new = h->best_run = 0;
	h->greybox.base = h->searched;
	s = search_open(&config, err);
	while ((event = search_next(s, &run, err)) > 0)
		switch (event) {
		case SEARCH_BEGIN: begin(h, &run); break;
		case SEARCH_ENDED: record_outcome(h, &run); break;
		default: search_report(event, &run, &h->listener);
		}
	search_close(s);
	h->searched += config.budget.runs;
	feedback_end(&h->feedback);
	greybox_generation(&h->greybox);
	if (event == 0)
		event = record_best(h, err);
	profile_free(&h->best);
	return event;
}

int hunt_search(struct hunt *h, struct err *err)
{
	uint64_t runs = SLICE_LEAST;
	struct search_config config;

	h->profiles_most = h->profile_count + RECORDED_MOST;
	for (uint64_t slice = 0; hunt_begin(h, HUNT_SEARCH, &config); slice++) {
		if (hunt_select(h, slice % h->config.inputs->count, err) < 0 ||
		    search_slice(h, &config, runs, err) < 0)
			return -1;
		/* After the first slice of each input the leads get the rest of their ways. */
		if (slice + 1 == h->config.inputs->count && hunt_prove(h, HUNT_TRIES, err) < 0)
			return -1;
		if (h->config.saturation && h->feedback.longest >= h->config.saturation) {
			h->stats.saturated = h->config.saturation;
			return 0;
		}
		if ((slice + 1) % h->config.inputs->count == 0 && runs < FEEDBACK_SLICE_MOST)
			runs *= 2;
	}
	return 0;
}

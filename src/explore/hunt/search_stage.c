/*
 * The searching stage: slices of runs by several strategies, more by those that lately found
 * what is new. The passing run of a slice that found most is made again with a trace, and
 * what that predicts is proved. It ends when nothing new came for long enough.
 */
#include "explore/hunt/hunt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define SLICE_LEAST 32u
#define WATCH_LEAST 4u		/* new switches that make a run worth a trace */
#define DEPENDENCY_WORTH 16u	/* … so many for each place that depended on a new one */
#define WATCHED_MOST 64u	/* traces in this stage */

static const struct {
	const char *strategy;
	uint32_t depth;
} ways[FEEDBACK_WAYS] = { { "pct", 3 }, { "pos", 0 }, { "random", 0 }, { "surw", 0 }, { "feedback", 0 } };

static void shape(void *ctx, uint64_t run, struct server *s)
{
	const struct hunt *h = ctx;
	struct ctl_request *q = server_request(s);
	unsigned way = h->feedback.way[run];

	q->flags |= CTL_DEPENDS;
	if (way == FEEDBACK_WAYS - 1) {
		greybox_shape(&h->greybox, h->config.search.seed, run, s);
		return;
	}
	snprintf(q->strategy, sizeof(q->strategy), "%s", ways[way].strategy);
	q->depth = ways[way].depth;
	q->run = h->searched + run;
}

static void note(void *ctx, uint64_t run, const struct server *s, const struct oracle_result *result)
{
	struct hunt *h = ctx;
	uint64_t switches = feedback_note(&h->feedback, run, s->block);
	uint64_t bits = greybox_judged(&h->greybox, h->config.search.seed, run, s);
	uint64_t fresh = bits * DEPENDENCY_WORTH + switches;

	/* Of equal ones the first, whichever ended first. */
	if (result->verdict != ORACLE_PASSED || fresh < WATCH_LEAST || fresh < h->best_new ||
	    (fresh == h->best_new && run > h->best_run))
		return;
	profile_free(&h->best);
	h->best.turns = profile_turns(s->block, &h->best.count);
	h->best.known = s->block->request.shared_count;
	h->best_new = fresh;
	h->best_run = run;
}

/* The most telling run again, with a trace; what it predicts that is not known is proved. */
static int watch_best(struct hunt *h, struct search_stats *stats, struct err *err)
{
	struct search_config config;
	size_t known = h->leads.count;
	struct err why;
	char *folder, *path;

	if (!h->best.turns || h->profile_count >= h->watched_most ||
	    !hunt_begin(h, HUNT_PROFILE, stats, &config))
		return 0;
	folder = hunt_folder(&why);
	if (!folder)
		return 0;
	path = xasprintf("%s/best", folder);
	if (hunt_watch(h, &config, 0, &h->best, path, stats))
		hunt_predict(h, path, h->profile_count - 1);
	unlink(path);
	rmdir(folder);
	free(path);
	free(folder);
	hunt_sort(h);
	if (h->leads.count == known)
		return 0;
	h->feedback.quiet = h->feedback.longest = 0;
	return hunt_prove(h, HUNT_TRIES_FIRST, stats, err);
}

static int search_slice(struct hunt *h, const struct search_config *budget, uint64_t runs,
			struct search_stats *stats, struct err *err)
{
	struct search_config config = *budget;
	int result;

	if (!config.runs || config.runs > runs)
		config.runs = runs;
	feedback_begin(&h->feedback, config.runs);
	h->best_new = h->best_run = 0;
	config.shape = shape;
	config.judged = note;
	config.server.plan_size = GREYBOX_PLAN_SIZE;
	h->greybox.base = h->searched;
	result = search_run(&config, h->places, stats, err);
	h->searched += config.runs;
	feedback_end(&h->feedback);
	greybox_generation(&h->greybox);
	if (result == 0)
		result = watch_best(h, stats, err);
	profile_free(&h->best);
	return result;
}

int hunt_search(struct hunt *h, struct search_stats *stats, struct err *err)
{
	uint64_t runs = SLICE_LEAST;
	struct search_config config;

	h->watched_most = h->profile_count + WATCHED_MOST;
	for (uint64_t slice = 0; hunt_begin(h, HUNT_SEARCH, stats, &config); slice++) {
		if (hunt_select(h, slice % h->config.inputs->count, err) < 0 ||
		    search_slice(h, &config, runs, stats, err) < 0)
			return -1;
		/* What was tried a few times only gets the rest of its tries. */
		if (slice + 1 == h->config.inputs->count &&
		    hunt_prove(h, HUNT_TRIES, stats, err) < 0)
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

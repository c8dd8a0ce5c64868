/*
 * Alternates three kinds of runs: profile runs that predict iRoots, greedy runs for all untested
 * iRoots at once, and runs of the strategy `active` for one of them each.
 */
#include "explore/cover/cover_chase.h"

#include <stdlib.h>

#include "base/mem.h"
#include "explore/cover/cover_search.h"
#include "explore/cover/expose_active.h"
#include "explore/cover/expose_greedy.h"

/* Most targets at a time. Then greedy and profile runs come again, if new iRoots were predicted. */
#define BATCH 128u
#define SLICE 16u	/* number of greedy runs in a row; if they expose nothing, no more follow */

struct chasing {
	struct cover_chase *x;
	struct cover *cover;
	struct search_listener listener;	/* of all searches; calls x->listener */
	struct expose_target *targets;	/* iRoots that are chased now */
	size_t *roots;			/* index of each target in cover->roots */
	size_t count;			/* of `targets` and `roots` */
	uint64_t greedy_runs;		/* number of greedy runs so far */
	bool stopped;			/* the listener answered SEARCH_ENOUGH */
};

/*
 * Fills in the configuration of a search with the rest of the budget. `runs`: number of runs at the
 * begin. False: the budget is spent, or the user stopped.
 */
static bool budget(const struct chasing *a, uint64_t runs, struct search_config *out)
{
	const struct search_budget *all = &a->x->search.budget;
	const struct search_stats *stats = a->x->search.stats;
	uint64_t made = stats->runs - runs;

	*out = a->x->search;
	if (all->runs)
		out->budget.runs = all->runs > made ? all->runs - made : 0;
	return (!all->runs || out->budget.runs > 0) && !a->stopped &&
	       !deadline_over(&all->deadline);
}

static enum search_answer on_found(void *ctx, struct search_failure *f)
{
	struct chasing *a = ctx;
	const struct search_listener *l = &a->x->listener;
	enum search_answer answer = SEARCH_MORE;

	if (l->found)
		answer = l->found(l->ctx, f);
	else
		search_failure_free(f);
	a->stopped |= answer == SEARCH_ENOUGH;
	return answer;
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	const struct search_listener *l = &((const struct chasing *)ctx)->x->listener;

	if (l->progress)
		l->progress(l->ctx, stats);
}

/*
 * Adds a run to the database. Marks all targets that it exposed: a run for one may expose others.
 */
static int add_run(struct chasing *a, const struct search_run *run, struct err *err)
{
	struct memo_run r;

	if (cover_add_run(a->cover, run, &r, err) < 0)
		return -1;
	for (size_t i = 0; i < a->count; i++)
		if (a->cover->roots[a->roots[i]].memo.exposed)
			a->targets[i].outcome = EXPOSE_DONE;
	return 0;
}

/* Makes targets of untested iRoots, in the order of their idioms. */
static void choose_targets(struct chasing *a)
{
	a->count = 0;
	for (uint32_t idiom = 1; idiom <= IROOT_IDIOMS; idiom++) {
		struct cover_root *root;
		size_t at = 0;

		while (a->count < BATCH && (root = cover_untested(a->cover, idiom, &at))) {
			a->targets[a->count] = expose_target_of(&root->iroot, a->cover->places);
			a->roots[a->count++] = at - 1;
		}
	}
}

/* Writes the outcomes of the targets to the database. Targets without a run stay untested. */
static int take_outcomes(struct chasing *a, struct err *err)
{
	for (size_t i = 0; i < a->count; i++) {
		struct expose_target *t = &a->targets[i];
		struct cover_root *root = &a->cover->roots[a->roots[i]];
		/* The fold of the run decides, not the strategy's view (t->outcome). */
		bool exposed = root->memo.exposed > 0;
		unsigned runs = t->outcome == EXPOSE_IMPOSSIBLE ? MEMO_ATTEMPTS : t->runs;

		expose_target_free(t);
		if (!runs && !exposed)
			continue;
		a->x->tried++;
		a->x->by_idiom[t->iroot.idiom][0]++;
		a->x->exposed += exposed;
		a->x->by_idiom[t->iroot.idiom][1] += exposed;
		if (cover_attempt(a->cover, root, runs, exposed, err) < 0)
			return -1;
	}
	return 0;
}

static int chase_targets(struct chasing *a, struct search_config *config, struct err *err)
{
	struct expose *active;
	struct search_run run;
	int event, written = 0;
	struct err writing;

	config->plan.flags |= CTL_PROFILE;
	cover_config(a->cover, &config->program.server);
	active = expose_open(config, MEMO_ATTEMPTS, a->targets, a->count);
	while ((event = expose_next(active, &run, err)) > 0)
		if (event == SEARCH_ENDED && written == 0)
			written = add_run(a, &run, &writing);
		else
			search_report(event, &run, &a->listener);
	expose_close(active);
	if (written < 0)
		*err = writing;
	return written < 0 || take_outcomes(a, err) < 0 ? -1 : event;
}

/* All untested iRoots; the caller frees the array. */
static struct iroot *untested(const struct chasing *a, size_t *count)
{
	struct iroot *roots = xcalloc(a->cover->count + 1, sizeof(*roots));
	struct cover_root *root;

	*count = 0;
	for (uint32_t idiom = 1; idiom <= IROOT_IDIOMS; idiom++)
		for (size_t at = 0; (root = cover_untested(a->cover, idiom, &at));)
			roots[(*count)++] = root->iroot;
	return roots;
}

static int search_greedily(struct chasing *a, const struct expose_greedy *g,
			   const struct search_config *config, struct err *err)
{
	struct search *s = search_open(config, err);
	struct search_run run;
	int event, written = 0;
	struct err writing;

	while ((event = search_next(s, &run, err)) > 0)
		if (event == SEARCH_BEGIN)
			expose_greedy_begin(g, a->greedy_runs, &run);
		else if (event == SEARCH_ENDED && written == 0)
			written = add_run(a, &run, &writing);
		else
			search_report(event, &run, &a->listener);
	search_close(s);
	if (written < 0)
		*err = writing;
	return written < 0 ? -1 : event;
}

/* Makes a slice of runs by the strategy `greedy` for all untested iRoots. */
static int make_greedy_runs(struct chasing *a, struct search_config *config, struct err *err)
{
	struct search_budget *budget = &config->budget;
	struct expose_greedy *g;
	size_t count;
	struct iroot *roots = untested(a, &count);
	int result = 0;

	config->plan.flags |= CTL_PROFILE;
	cover_config(a->cover, &config->program.server);
	budget->runs = budget->runs && budget->runs < SLICE ? budget->runs : SLICE;
	a->count = 0;
	if (count) {
		g = expose_greedy_new(roots, count, config);
		result = search_greedily(a, g, config, err);
		expose_greedy_free(g);
	}
	a->greedy_runs += SLICE;
	free(roots);
	return result;
}

static int profile(struct chasing *a, const struct search_config *config, struct err *err)
{
	struct cover_search s = { .search = *config,
				  .listener = a->listener,
				  .saturation = COVER_CANDIDATES,
				  .predicted_only = true };
	uint64_t before = config->stats->runs;
	int result;

	s.search.plan.strategy = NULL;
	result = cover_search_run(&s, a->cover, err);
	a->x->profiled += config->stats->runs - before;
	return result;
}

int cover_chase_run(struct cover_chase *x, struct cover *c, struct err *err)
{
	struct chasing a = { .x = x, .cover = c, .targets = xcalloc(BATCH, sizeof(*a.targets)),
			     .roots = xcalloc(BATCH, sizeof(*a.roots)),
			     .listener = {
				     .found = on_found, .progress = on_progress, .ctx = &a } };
	uint64_t runs = x->search.stats->runs;
	struct search_config search;
	size_t known = SIZE_MAX;
	uint64_t exposed = UINT64_MAX;	/* c->exposed before the last greedy runs */
	int result = 0;

	while (result == 0 && budget(&a, runs, &search)) {
		/* Directed runs have predicted new iRoots, so that profile runs may find more. */
		if (c->count - c->withdrawn != known) {
			known = c->count - c->withdrawn;
			exposed = UINT64_MAX;
			result = profile(&a, &search, err);
			continue;
		}
		if (c->exposed != exposed) {
			exposed = c->exposed;
			result = make_greedy_runs(&a, &search, err);
			continue;
		}
		choose_targets(&a);
		if (!a.count) {
			x->over = true;
			break;
		}
		result = chase_targets(&a, &search, err);
	}
	free(a.targets);
	free(a.roots);
	return result;
}

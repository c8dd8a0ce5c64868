#include "explore/cover/cover_chase.h"

#include <stdlib.h>

#include "base/mem.h"
#include "explore/cover/cover_search.h"
#include "explore/cover/expose_active.h"
#include "explore/cover/expose_greedy.h"

#define BATCH 128u	/* iRoots that are chased before runs are looked at for new ones */
#define SLICE 16u	/* greedy runs in a row; if they expose nothing, these were enough */

struct chasing {
	struct cover_chase *x;
	struct cover *cover;
	struct active_target *targets;
	size_t *roots;		/* of the targets, in the cover */
	size_t count;
	uint64_t greedy;	/* runs for all at once */
	struct err err;
	bool broken;		/* … the database cannot be written to */
	bool enough;		/* who asked has enough */
};

/* What is left of the budget; false: nothing. */
static bool budget(const struct chasing *a, const struct search_stats *stats, uint64_t runs, double seconds,
		   struct search_config *out)
{
	const struct search_config *c = &a->x->search;
	uint64_t made = stats->runs - runs;

	*out = *c;
	if (c->runs)
		out->runs = c->runs > made ? c->runs - made : 0;
	if (c->seconds > 0)
		out->seconds = c->seconds - (stats->seconds - seconds);
	return (!c->runs || out->runs > 0) && (c->seconds <= 0 || out->seconds > 0) && !a->enough &&
	       !(c->stop && *c->stop);
}

static enum search_answer on_found(void *ctx, struct search_failure *f)
{
	struct chasing *a = ctx;
	enum search_answer answer = SEARCH_MORE;

	if (a->x->search.found)
		answer = a->x->search.found(a->x->search.ctx, f);
	else
		search_failure_free(f);
	a->enough |= answer == SEARCH_ENOUGH;
	return answer;
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	const struct chasing *a = ctx;

	if (a->x->search.progress)
		a->x->search.progress(a->x->search.ctx, stats);
}

/* A run for one iRoot may expose others. */
static void on_judged(void *ctx, uint64_t run, const struct server *server,
		      const struct oracle_result *result)
{
	struct chasing *a = ctx;
	struct ctl_block *b = server->block;
	struct memo_run r = { .strategy = b->request.strategy, .seed = b->request.seed, .number = run,
			      .failed = result->verdict == ORACLE_FAILED };

	if (a->broken)
		return;
	if (cover_add_run(a->cover, server, &r, &a->err) < 0) {
		a->broken = true;
		return;
	}
	for (size_t i = 0; i < a->count; i++)
		if (a->cover->roots[a->roots[i]].memo.exposed)
			a->targets[i].outcome = ACTIVE_EXPOSED;
}

static void gather(struct chasing *a)
{
	a->count = 0;
	for (uint32_t idiom = 1; idiom <= IROOT_IDIOMS; idiom++) {
		struct cover_root *root;
		size_t at = 0;

		while (a->count < BATCH && (root = cover_untested(a->cover, idiom, &at))) {
			a->targets[a->count] = active_target_of(&root->here, a->cover->places);
			a->roots[a->count++] = at - 1;
		}
	}
}

/* What came of it; what was not tried yet stays untested. */
static int settle(struct chasing *a, struct err *err)
{
	for (size_t i = 0; i < a->count; i++) {
		struct active_target *t = &a->targets[i];
		struct cover_root *root = &a->cover->roots[a->roots[i]];
		bool exposed = root->memo.exposed > 0;	/* what was observed counts, whoever says otherwise */
		unsigned runs = t->outcome == ACTIVE_IMPOSSIBLE ? MEMO_ATTEMPTS : t->runs;

		active_target_free(t);
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

static int chase(struct chasing *a, struct search_config *search, struct search_stats *stats, struct err *err)
{
	struct active_config config = { .search = *search, .tries = MEMO_ATTEMPTS };
	int result;

	config.search.flags |= CTL_PROFILE;
	cover_config(a->cover, &config.search.server);
	config.search.judged = on_judged;
	config.search.found = on_found;
	config.search.progress = on_progress;
	config.search.ctx = a;
	result = active_try(&config, a->targets, a->count, a->cover->places, stats, err);
	if (a->broken) {
		*err = a->err;
		return -1;
	}
	return settle(a, err) < 0 ? -1 : result;
}

/* For all that is untested at once, as long as that exposes something. */
static int greedy(struct chasing *a, struct search_config *search, struct search_stats *stats, struct err *err)
{
	struct search_config config = *search;
	struct iroot *roots = xcalloc(a->cover->count + 1, sizeof(*roots));
	struct cover_root *root;
	size_t count = 0;
	int result;

	for (uint32_t idiom = 1; idiom <= IROOT_IDIOMS; idiom++)
		for (size_t at = 0; (root = cover_untested(a->cover, idiom, &at));)
			roots[count++] = root->here;
	config.flags |= CTL_PROFILE;
	cover_config(a->cover, &config.server);
	config.runs = config.runs && config.runs < SLICE ? config.runs : SLICE;
	config.judged = on_judged;
	config.found = on_found;
	config.progress = on_progress;
	config.ctx = a;
	a->count = 0;
	result = greedy_run(&config, roots, count, a->greedy, a->cover->places, stats, err);
	a->greedy += SLICE;
	free(roots);
	if (a->broken) {
		*err = a->err;
		return -1;
	}
	return result;
}

static int profile(struct chasing *a, struct search_config *search, struct search_stats *stats, struct err *err)
{
	struct cover_search s = { .search = *search, .stop = search->stop, .saturation = COVER_CANDIDATES,
				  .candidates = true };
	uint64_t before = stats->runs;
	int result;

	s.search.strategy = NULL;
	s.search.found = on_found;
	s.search.progress = on_progress;
	s.search.ctx = a;
	result = cover_search_run(&s, a->cover, stats, err);
	a->x->profiled += stats->runs - before;
	return result;
}

int cover_chase_run(struct cover_chase *x, struct cover *c, struct search_stats *stats, struct err *err)
{
	struct chasing a = { .x = x, .cover = c, .targets = xcalloc(BATCH, sizeof(*a.targets)),
			     .roots = xcalloc(BATCH, sizeof(*a.roots)) };
	uint64_t runs = stats->runs;
	double seconds = stats->seconds;
	struct search_config search;
	size_t known = SIZE_MAX;
	uint64_t exposed = UINT64_MAX;	/* before the last greedy runs */
	int result = 0;

	while (result == 0 && budget(&a, stats, runs, seconds, &search)) {
		/* Chasing shows more to expect: then it pays to look around again. */
		if (c->count - c->gone != known) {
			known = c->count - c->gone;
			exposed = UINT64_MAX;
			result = profile(&a, &search, stats, err);
			continue;
		}
		if (c->exposed != exposed) {
			exposed = c->exposed;
			result = greedy(&a, &search, stats, err);
			continue;
		}
		gather(&a);
		if (!a.count) {
			x->over = true;
			break;
		}
		result = chase(&a, &search, stats, err);
	}
	free(a.targets);
	free(a.roots);
	return result;
}

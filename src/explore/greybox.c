#include "explore/greybox.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "explore/profile.h"
#include "sched/rng.h"

#define ANEW 4u			/* one run of so many does not begin with another one's turns */

_Static_assert(CORPUS_BYTES == CTL_DEPENDS_BYTES, "bits");

struct hooks {
	struct greybox *g;
	const struct search_config *config;
};

void greybox_free(struct greybox *g)
{
	corpus_free(&g->corpus);
}

void greybox_shape(const struct greybox *g, uint64_t seed, uint64_t run, struct server *s)
{
	static const struct {
		const char *strategy;
		uint32_t depth;
	} ways[] = { { "random", 0 }, { "pos", 0 }, { "pct", 3 }, { "surw", 0 } };
	static const uint32_t permilles[] = { 5, 20, 100, 400 };
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);
	uint64_t rng = seed * 0x9e3779b97f4a7c15ull ^ (g->base + run);
	uint64_t anew = rng_next(&rng), way = rng_below(&rng, 4);

	q->run = g->base + run;
	q->flags |= CTL_DEPENDS;
	*plan = (struct sched_plan){ 0 };
	if (anew % ANEW != 0)
		plan->turns = corpus_mutate(&g->corpus, &rng, (struct sched_turn *)(plan + 1));
	if (!plan->turns) {
		snprintf(q->strategy, sizeof(q->strategy), "%s", ways[way].strategy);
		q->depth = ways[way].depth;
		return;
	}
	snprintf(q->strategy, sizeof(q->strategy), "feedback");
	q->switch_permille = permilles[way];
	plan->size = sizeof(*plan) + plan->turns * sizeof(struct sched_turn);
	q->plan_size = plan->size;
}

uint32_t greybox_judged(struct greybox *g, uint64_t run, const struct server *s)
{
	const uint8_t *bits = (const uint8_t *)s->block + s->block->depends;
	uint32_t fresh = corpus_new(&g->corpus, bits);
	struct sched_turn *turns;
	size_t count;

	if (fresh) {
		turns = profile_turns(s->block, &count);
		corpus_add(&g->corpus, g->base + run, bits, turns, turns ? count : 0);
	}
	return fresh;
}

void greybox_generation(struct greybox *g)
{
	corpus_end(&g->corpus);
}

static void shape(void *ctx, uint64_t run, struct server *s)
{
	const struct hooks *h = ctx;

	greybox_shape(h->g, h->config->seed, run, s);
}

static void judged(void *ctx, uint64_t run, const struct server *s, const struct oracle_result *result)
{
	const struct hooks *h = ctx;

	greybox_judged(h->g, run, s);
	if (h->config->judged)
		h->config->judged(h->config->ctx, run, s, result);
}

static void generation(void *ctx)
{
	const struct hooks *h = ctx;

	greybox_generation(h->g);
}

static enum search_answer found(void *ctx, struct search_failure *f)
{
	const struct hooks *h = ctx;

	/* Whoever made it was asked by this one. */
	free(f->schedule.strategy);
	f->schedule.strategy = xstrdup("feedback");
	return h->config->found(h->config->ctx, f);
}

static void progress(void *ctx, const struct search_stats *stats)
{
	const struct hooks *h = ctx;

	h->config->progress(h->config->ctx, stats);
}

int greybox_run(struct greybox *g, const struct search_config *config, struct places *places,
		struct search_stats *stats, struct err *err)
{
	struct hooks hooks = { g, config };
	struct search_config c = *config;
	uint64_t runs = stats->runs;
	int result;

	c.strategy = strategy_find("feedback");
	c.shape = shape;
	c.judged = judged;
	c.generation = generation;
	c.found = found;
	c.progress = config->progress ? progress : NULL;
	c.cause = NULL;
	c.from = NULL;
	c.ctx = &hooks;
	if (c.server.plan_size < GREYBOX_PLAN_SIZE)
		c.server.plan_size = GREYBOX_PLAN_SIZE;
	result = search_run(&c, places, stats, err);
	g->base += stats->runs - runs;
	return result;
}

#include "explore/search/greybox.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "explore/search/observe.h"
#include "sched/rng.h"

#define SCALE 1024u		/* fixed-point unit of shares */
#define SHARE_LEAST 24u		/* adds a 24th of all shares to each: at least one run in 29 */

_Static_assert(CORPUS_BYTES == CTL_DEPENDS_BYTES, "the corpus has the bitmap of a run");

void greybox_free(struct greybox *g)
{
	corpus_free(&g->corpus);
}

static const struct {
	const char *strategy;
	uint32_t depth;
} choices[GREYBOX_STRATEGIES] = {
	{ "feedback", 0 }, { "pos", 0 }, { "surw", 0 }, { "random", 0 }, { "pct", 3 },
};

/*
 * Draws the strategy of a run, and seeds *rng with the run's random numbers. All calls for one run
 * within a generation agree, so the choice need not be stored.
 */
static unsigned draw_strategy(const struct greybox *g, uint64_t seed, uint64_t run, uint64_t *rng)
{
	uint64_t share[GREYBOX_STRATEGIES], sum = 0, draw;
	unsigned choice = 0;

	for (unsigned i = 0; i < GREYBOX_STRATEGIES; i++) {
		share[i] = (g->found[i] + 1) * SCALE / (g->runs[i] + 1);
		sum += share[i];
	}
	for (unsigned i = 0; i < GREYBOX_STRATEGIES; i++)
		share[i] += sum / SHARE_LEAST;
	sum += sum / SHARE_LEAST * GREYBOX_STRATEGIES;
	*rng = hash_spread(seed) ^ (g->base + run);
	for (draw = rng_below(rng, sum); draw >= share[choice]; choice++)
		draw -= share[choice];
	return choice;
}

void greybox_begin(const struct greybox *g, uint64_t seed, const struct search_run *run)
{
	static const uint32_t permilles[] = { 5, 20, 100, 400 };
	struct server *s = run->server;
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);
	uint64_t rng;
	unsigned choice = draw_strategy(g, seed, run->number, &rng);

	q->run = g->base + run->number;
	q->flags |= CTL_DEPENDS;
	*plan = (struct sched_plan){ 0 };
	if (choice == 0) {
		q->switch_permille = permilles[rng_below(&rng, ARRAY_SIZE(permilles))];
		plan->turns = corpus_mutate(&g->corpus, &rng, (struct sched_turn *)(plan + 1));
		plan->size = sizeof(*plan) + plan->turns * sizeof(struct sched_turn);
		q->plan_size = plan->size;
	}
	snprintf(q->strategy, sizeof(q->strategy), "%s", choices[choice].strategy);
	q->depth = choices[choice].depth;
}

uint32_t greybox_ended(struct greybox *g, uint64_t seed, const struct search_run *run)
{
	const struct server *s = run->server;
	const uint8_t *bits = (const uint8_t *)s->block + s->block->depends;
	uint32_t fresh = corpus_new(&g->corpus, bits);
	struct sched_turn *turns;
	uint64_t rng;
	unsigned choice = draw_strategy(g, seed, run->number, &rng);
	size_t count;

	g->runs_now[choice]++;
	g->found_now[choice] += fresh;
	if (fresh) {
		turns = profile_turns(s->block, &count);
		corpus_add(&g->corpus, g->base + run->number, bits, turns, turns ? count : 0);
	}
	return fresh;
}

void greybox_generation(struct greybox *g)
{
	corpus_end(&g->corpus);
	for (unsigned i = 0; i < GREYBOX_STRATEGIES; i++) {
		g->runs[i] = g->runs[i] / 2 + g->runs_now[i];
		g->found[i] = g->found[i] / 2 + g->found_now[i];
		g->runs_now[i] = g->found_now[i] = 0;
	}
}

void greybox_config(struct search_config *config)
{
	config->plan.strategy = strategy_find("feedback");
	if (config->program.server.plan_size < GREYBOX_PLAN_SIZE)
		config->program.server.plan_size = GREYBOX_PLAN_SIZE;
}

void greybox_event(struct greybox *g, uint64_t seed, int event, const struct search_run *run)
{
	switch (event) {
	case SEARCH_BEGIN: greybox_begin(g, seed, run); break;
	case SEARCH_ENDED: greybox_ended(g, seed, run); break;
	case SEARCH_GENERATION: greybox_generation(g); break;
	case SEARCH_FAILED:
		/* The user asked for `feedback`; the request names the strategy that it chose. */
		free(run->failure->schedule.strategy);
		run->failure->schedule.strategy = xstrdup("feedback");
		break;
	}
}

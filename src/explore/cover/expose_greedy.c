#include "explore/cover/expose_greedy.h"

#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "base/mem.h"
#include "sched/greedy.h"

struct hooks {
	const struct search_config *config;
	uint64_t *open, places;
	uint64_t first;
};

static void shape(void *ctx, uint64_t run, struct server *s)
{
	const struct hooks *h = ctx;
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);

	*plan = (struct sched_plan){ .open = h->places };
	memcpy(plan + 1, h->open, h->places * sizeof(*h->open));
	plan->size = q->plan_size = sizeof(*plan) + h->places * sizeof(*h->open);
	q->run = h->first + run;
}

static void judged(void *ctx, uint64_t run, const struct server *s, const struct oracle_result *result)
{
	const struct hooks *h = ctx;

	h->config->judged(h->config->ctx, run, s, result);
}

static enum search_answer found(void *ctx, struct search_failure *f)
{
	const struct hooks *h = ctx;

	return h->config->found(h->config->ctx, f);
}

static void progress(void *ctx, const struct search_stats *stats)
{
	const struct hooks *h = ctx;

	h->config->progress(h->config->ctx, stats);
}

int greedy_run(const struct search_config *config, const struct iroot *roots, size_t count, uint64_t first,
	       struct places *places, struct search_stats *stats, struct err *err)
{
	struct hooks h = { .config = config, .places = greedy_places(count), .first = first };
	struct search_config c = *config;
	size_t plan_size = sizeof(struct sched_plan) + h.places * sizeof(*h.open);
	int result;

	if (!count)
		return 0;
	h.open = xcalloc(h.places, sizeof(*h.open));
	for (size_t i = 0; i < count; i++)
		greedy_add(h.open, h.places, &roots[i]);
	c.strategy = strategy_find("greedy");
	c.shape = shape;
	c.judged = config->judged ? judged : NULL;
	c.found = found;
	c.progress = config->progress ? progress : NULL;
	c.cause = NULL;
	c.from = NULL;
	c.generation = NULL;
	c.ctx = &h;
	if (c.server.plan_size < plan_size)
		c.server.plan_size = plan_size;
	result = search_run(&c, places, stats, err);
	free(h.open);
	return result;
}

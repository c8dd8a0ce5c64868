#include "explore/cover/expose_greedy.h"

#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "base/mem.h"
#include "sched/greedy.h"

struct greedy {
	uint64_t *open, places;
};

struct greedy *greedy_new(const struct iroot *roots, size_t count, struct search_config *config)
{
	struct greedy *g = xcalloc(1, sizeof(*g));
	size_t plan_size;

	g->places = greedy_places(count);
	g->open = xcalloc(g->places, sizeof(*g->open));
	for (size_t i = 0; i < count; i++)
		greedy_add(g->open, g->places, &roots[i]);
	config->plan.strategy = strategy_find("greedy");
	plan_size = sizeof(struct sched_plan) + g->places * sizeof(*g->open);
	if (config->program.server.plan_size < plan_size)
		config->program.server.plan_size = plan_size;
	return g;
}

void greedy_free(struct greedy *g)
{
	free(g->open);
	free(g);
}

void greedy_begin(const struct greedy *g, uint64_t first, const struct search_run *run)
{
	struct server *s = run->server;
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);

	*plan = (struct sched_plan){ .open = g->places };
	memcpy(plan + 1, g->open, g->places * sizeof(*g->open));
	plan->size = q->plan_size = sizeof(*plan) + g->places * sizeof(*g->open);
	q->run = first + run->number;
}

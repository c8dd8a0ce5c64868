#include "explore/cover/expose_greedy.h"

#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "base/mem.h"
#include "sched/greedy.h"

struct expose_greedy {
	uint64_t *table, slots;
};

struct expose_greedy *expose_greedy_new(const struct iroot *roots, size_t count,
					struct search_config *config)
{
	struct expose_greedy *g = xcalloc(1, sizeof(*g));
	size_t plan_size;

	g->slots = greedy_slots(count);
	g->table = xcalloc(g->slots, sizeof(*g->table));
	for (size_t i = 0; i < count; i++)
		greedy_add(g->table, g->slots, &roots[i]);
	config->plan.strategy = strategy_find("greedy");
	plan_size = sizeof(struct sched_plan) + g->slots * sizeof(*g->table);
	if (config->program.server.plan_size < plan_size)
		config->program.server.plan_size = plan_size;
	return g;
}

void expose_greedy_free(struct expose_greedy *g)
{
	free(g->table);
	free(g);
}

void expose_greedy_begin(const struct expose_greedy *g, uint64_t first,
			 const struct search_run *run)
{
	struct server *s = run->server;
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);

	*plan = (struct sched_plan){ .open = g->slots };
	memcpy(plan + 1, g->table, g->slots * sizeof(*g->table));
	plan->size = q->plan_size = sizeof(*plan) + g->slots * sizeof(*g->table);
	q->run = first + run->number;
}

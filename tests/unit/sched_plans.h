/*
 * For tests of the strategies that follow a plan: plans made of simulated runs.
 */
#ifndef SCHED_PLANS_H
#define SCHED_PLANS_H

#include "sched_sim.h"

#define SITE(thread, event) ((thread) * 1000 + (event) + 1)

struct plan {
	struct sched_plan head;
	union {
		struct sched_turn turns[SIM_STEPS];
		struct sched_order orders[64];
	};
};

static UNUSED void writers(struct sim_program *p, unsigned threads, unsigned steps)
{
	memset(p, 0, sizeof(*p));
	for (unsigned t = 0; t < threads; t++)
		for (unsigned i = 0; i < steps; i++)
			sim_add(p, t, SCHED_OP_WRITE, 1);
}

/* A run as turns: as few as possible, or one for each step. */
static UNUSED void plan_of(struct plan *plan, const struct sim_result *r, bool joined)
{
	memset(plan, 0, sizeof(*plan));
	for (unsigned i = 0; i < r->steps; i++) {
		uint64_t name = r->end.name[r->thread[i]];
		struct sched_turn *last = plan->turns + plan->head.turns - 1;

		if (joined && plan->head.turns && last->name == name)
			last->steps++;
		else
			plan->turns[plan->head.turns++] =
				(struct sched_turn){ .name = name, .steps = 1 };
	}
}

#endif

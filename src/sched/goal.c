/*
 * Goal-directed: a thread that stands before the second event of an order whose
 * first has not happened is held; otherwise a random walk with stickiness. The
 * idea of holding threads at one site until another gets to its own is that of
 * CalFuzzer (Sen, PLDI 2008) and of Maple's active scheduler (Yu et al., OOPSLA
 * 2012); here events are named by thread, site and n-th time.
 *
 * If all that can run is held, or does nothing but wait in circles for who is held, the
 * orders cannot all be had from here: the one held last is let go, its order given
 * up, and the run goes on.
 *
 * Every step is asked for while an order is open, since every event counts.
 */
#include "sched/goal.h"
#include "sched/pick.h"
#include "sched/plan.h"

#define IDLE 8u		/* rounds of spinning that tell that it waits for who is held */

struct progress {
	uint64_t first, second;	/* how often each name has been at its site */
	bool first_done, second_done, given_up;
};

struct goal {
	uint64_t seed;
	uint32_t permille;
	uint32_t then;				/* enum goal_then */
	uint32_t orders;
	bool truncated;
	uint64_t rng;
	uint64_t asked;				/* step of the last question; SCHED_NO_LIMIT: counted */
	uint64_t until;				/* the step at which the running thread is left */
	uint64_t chosen;			/* name of the thread */
	uint64_t site;				/* … and where it was to take its step */
	uint32_t open;				/* orders neither met nor given up */
	bool infeasible, switched;
	uint64_t held_since[SCHED_MAX_THREADS];	/* step + 1; 0: not held */
	struct progress progress[GOAL_MAX_ORDERS];
	struct sched_order order[GOAL_MAX_ORDERS];	/* copied, for who has the state alone */
};

static bool matches(const struct sched_name *name, uint64_t thread, uint64_t site)
{
	return (!name->thread || name->thread == thread) && (!name->site || name->site == site);
}

static uint64_t nth(const struct sched_name *name)
{
	return name->nth ? name->nth : 1;
}

/* Is a step of `thread` at `site` the first event of this order? */
static bool is_first(const struct goal *g, uint32_t order, uint64_t thread, uint64_t site)
{
	const struct sched_name *first = &g->order[order].first;

	return matches(first, thread, site) && g->progress[order].first + 1 == nth(first);
}

/* Is a step of `thread` at `site` the second event of this order? */
static bool is_second(const struct goal *g, uint32_t order, uint64_t thread, uint64_t site)
{
	const struct sched_name *second = &g->order[order].second;

	return matches(second, thread, site) && g->progress[order].second + 1 == nth(second);
}

/* Nobody asks after the last step of a run, but it was taken: perhaps it crashed. */
void goal_result(const void *state, struct goal_result *out)
{
	const struct goal *g = state;

	out->orders = g->orders;
	out->met = out->kept = 0;
	out->infeasible = g->infeasible;
	out->truncated = g->truncated;
	for (uint32_t i = 0; i < g->orders; i++) {
		const struct progress *p = &g->progress[i];
		bool asked = g->asked != SCHED_NO_LIMIT;
		bool second = asked && p->first_done && is_second(g, i, g->chosen, g->site);
		bool first = asked && is_first(g, i, g->chosen, g->site);

		out->met += !p->given_up && (p->second_done || second);
		out->kept += !p->given_up && (p->first_done || first);
	}
}

static void goal_init(void *state, const struct sched_params *params)
{
	struct goal *g = state;
	const struct sched_plan *plan = params->plan;
	uint64_t orders = plan ? plan->orders : 0;

	g->seed = params->seed;
	g->permille = pick_permille(params);
	g->then = params->depth;
	g->truncated = orders > GOAL_MAX_ORDERS;
	g->orders = g->truncated ? GOAL_MAX_ORDERS : (uint32_t)orders;
	for (uint32_t i = 0; i < g->orders; i++)
		g->order[i] = sched_plan_orders(plan)[i];
}

static void goal_begin(void *state, const struct sched_run *run)
{
	struct goal *g = state;

	g->rng = pick_seed(g->seed, run->number);
	g->asked = SCHED_NO_LIMIT;
	g->until = 0;
	g->open = g->orders;
	g->infeasible = false;
	g->switched = false;
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		g->held_since[i] = 0;
	for (uint32_t i = 0; i < g->open; i++) {
		struct progress *p = &g->progress[i];

		p->first = p->second = 0;
		p->first_done = p->second_done = p->given_up = false;
	}
}

static void executed(struct goal *g, uint64_t thread, uint64_t site)
{
	for (uint32_t i = 0; i < g->orders; i++) {
		const struct sched_order *o = &g->order[i];
		struct progress *p = &g->progress[i];
		bool is_open = !p->second_done && !p->given_up;
		bool had_first = p->first_done;

		if (matches(&o->first, thread, site) && ++p->first == nth(&o->first))
			p->first_done = true;
		if (matches(&o->second, thread, site) && ++p->second == nth(&o->second)) {
			p->second_done = true;
			p->given_up |= !had_first;	/* it came too early all the same */
		}
		if (is_open && p->second_done)
			g->open--;
	}
}

static bool holds(const struct goal *g, uint32_t order, uint64_t thread, uint64_t site)
{
	const struct progress *p = &g->progress[order];

	return !p->first_done && !p->second_done && !p->given_up &&
	       is_second(g, order, thread, site);
}

static bool is_held(const struct goal *g, const struct sched_point *point, uint32_t thread)
{
	for (uint32_t i = 0; i < g->orders; i++)
		if (holds(g, i, point->name[thread], point->pending[thread].site))
			return true;
	return false;
}

static bool any_held(const struct goal *g, const struct sched_point *point)
{
	for (size_t i = 0; i < point->count; i++)
		if (g->held_since[point->runnable[i]])
			return true;
	return false;
}

/* Nobody gets on while they are held: gives up what holds the latest of them. */
static uint32_t let_go(struct goal *g, const struct sched_point *point)
{
	uint32_t latest = point->runnable[0];

	for (size_t i = 0; i < point->count; i++)
		if (g->held_since[point->runnable[i]] > g->held_since[latest])
			latest = point->runnable[i];
	g->infeasible = true;
	for (uint32_t i = 0; i < g->orders; i++)
		if (holds(g, i, point->name[latest], point->pending[latest].site)) {
			g->progress[i].given_up = true;
			g->open--;
		}
	g->held_since[latest] = 0;
	return latest;
}

/* A random walk among those not held. */
static uint32_t walk(struct goal *g, const struct sched_point *point)
{
	uint32_t found = SCHED_MAX_THREADS;
	uint64_t seen = 0;
	bool stays = point->runs && !point->yields && point->step < g->until;

	if (stays && !g->held_since[point->running])
		return point->running;
	if (point->idle >= IDLE && any_held(g, point))
		return let_go(g, point);
	g->until = point->step + pick_geometric(&g->rng, g->permille);
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (!g->held_since[thread] && thread != point->running &&
		    rng_below(&g->rng, ++seen) == 0)
			found = thread;
	}
	if (found < SCHED_MAX_THREADS)
		return found;
	return point->runs && !g->held_since[point->running] ? point->running :
							       let_go(g, point);
}

static uint32_t towards(struct goal *g, const struct sched_point *point)
{
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (!is_held(g, point, thread))
			g->held_since[thread] = 0;
		else if (!g->held_since[thread])
			g->held_since[thread] = point->step + 1;
	}
	return walk(g, point);
}

/* No order is open any more. */
static void afterwards(struct goal *g, const struct sched_point *point, struct sched_choice *out)
{
	bool stays = pick_may_stay(point);

	out->steps = SCHED_NO_LIMIT;
	if (g->then == GOAL_RANDOM) {
		if (!stays || point->step >= g->until) {
			g->until = point->step + pick_geometric(&g->rng, g->permille);
			out->thread = pick_other(point, &g->rng);
		} else {
			out->thread = point->running;
		}
		out->steps = pick_steps(point, g->until);
	} else if (g->then == GOAL_SWITCH && !g->switched) {
		g->switched = true;
		out->thread = pick_other(point, &g->rng);
	} else {
		out->thread = pick_onward(point);
	}
}

static void goal_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct goal *g = state;

	if (g->asked != SCHED_NO_LIMIT && point->step > g->asked)
		executed(g, g->chosen, g->site);
	g->asked = SCHED_NO_LIMIT;
	if (!g->open) {
		afterwards(g, point, out);
		return;
	}
	out->thread = towards(g, point);
	out->steps = 1;
	g->asked = point->step;
	g->chosen = point->name[out->thread];
	g->site = point->pending[out->thread].site;
}

static uint32_t goal_choose(void *state, uint32_t count)
{
	struct goal *g = state;

	return (uint32_t)rng_below(&g->rng, count);
}

const struct strategy strategy_goal = {
	.name = "goal",
	.summary = "the orders a schedule file wants, the rest at random",
	.state_size = sizeof(struct goal),
	.init = goal_init,
	.begin = goal_begin,
	.pick = goal_pick,
	.choose = goal_choose,
};

/*
 * Goal-directed: a thread that stands before the second event of an order whose
 * first has not happened is held; otherwise a random walk with stickiness. The
 * idea of holding threads at one site until another gets to its own is that of
 * CalFuzzer (Sen, PLDI 2008) and of Maple's active scheduler (Yu et al., OOPSLA
 * 2012); here events are named by thread, site and n-th time.
 *
 * A plan with turns is followed up to where the first thread has to be held (PENELOPE's
 * first region, Sorrentino et al., FSE 2010): that the run with these turns came to the
 * events of the orders is the best reason to think that this one will.
 *
 * Who was held goes on as soon as its order allows it.
 *
 * If all that can run is held, or does nothing but wait in circles for who is held, the
 * orders cannot all be had from here: the one held last is let go, its order given
 * up, and the run goes on.
 *
 * Every step is asked for while an order is open, since every event counts.
 */
#include "abi/plan.h"
#include "sched/exact.h"
#include "sched/goal.h"
#include "sched/pick.h"

#define IDLE 8u		/* rounds of spinning that tell that it waits for who is held */

struct progress {
	uint64_t first, second;	/* how often each name has been at its site */
	uint64_t first_left, second_left;	/* … when the plan was left */
	bool first_done, second_done, given_up;
	bool let_go;		/* … since everybody was held */
};

struct goal {
	struct exact guide;			/* first, as `follows` has it */
	bool guided;				/* the plan's turns are followed */
	uint64_t left_at;			/* the step at which they were left to hold; SCHED_NO_LIMIT: not */
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
	uint32_t last;				/* who took the last step of the pattern */
	bool yielded;
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

static bool happened(const struct sched_name *name)
{
	return name->nth == GOAL_HAPPENED;
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

void goal_result(const void *state, struct goal_result *out)
{
	const struct goal *g = state;

	goal_result_of(state, 0, g->orders, out);
	out->truncated = g->truncated;
}

/* Nobody asks after the last step of a run, but it was taken: perhaps it crashed. */
void goal_result_of(const void *state, uint32_t from, uint32_t count, struct goal_result *out)
{
	const struct goal *g = state;

	*out = (struct goal_result){ 0 };
	for (uint32_t i = from; i < from + count && i < g->orders; i++) {
		const struct progress *p = &g->progress[i];
		bool asked = g->asked != SCHED_NO_LIMIT;
		bool second = asked && p->first_done && is_second(g, i, g->chosen, g->site);
		bool first = asked && is_first(g, i, g->chosen, g->site);

		out->orders++;
		out->met += !p->given_up && (p->second_done || second);
		out->kept += !p->given_up && (p->first_done || first);
		out->infeasible |= p->let_go;
	}
}

static void reduce(struct sched_name *name, uint64_t count)
{
	if (!happened(name))
		name->nth = count < nth(name) ? nth(name) - count : GOAL_HAPPENED;
}

bool goal_rest(const void *state, uint64_t *steps, struct sched_order *out)
{
	const struct goal *g = state;

	*steps = g->left_at;
	for (uint32_t i = 0; i < g->orders; i++) {
		out[i] = g->order[i];
		reduce(&out[i].first, g->progress[i].first_left);
		reduce(&out[i].second, g->progress[i].second_left);
	}
	return g->left_at != SCHED_NO_LIMIT;
}

static void goal_init(void *state, const struct sched_params *params)
{
	struct goal *g = state;
	const struct sched_plan *plan = params->plan;
	uint64_t orders = plan ? plan->orders : 0;

	strategy_exact.init(&g->guide, params);
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

	strategy_exact.begin(&g->guide, run);
	g->guided = !exact_done(&g->guide);
	g->left_at = SCHED_NO_LIMIT;
	g->rng = pick_seed(g->seed, run->number);
	g->asked = SCHED_NO_LIMIT;
	g->until = 0;
	g->open = g->orders;
	g->last = SCHED_MAX_THREADS;
	g->yielded = false;
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		g->held_since[i] = 0;
	for (uint32_t i = 0; i < g->orders; i++) {
		struct progress *p = &g->progress[i];

		*p = (struct progress){ .first_done = happened(&g->order[i].first),
					.second_done = happened(&g->order[i].second) };
		g->open -= p->second_done;
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
	for (uint32_t i = 0; i < g->orders; i++)
		if (holds(g, i, point->name[latest], point->pending[latest].site)) {
			g->progress[i].given_up = g->progress[i].let_go = true;
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

/* Who has waited for longest goes on as soon as it may: others would disturb the pattern. */
static uint32_t towards(struct goal *g, const struct sched_point *point)
{
	uint32_t freed = SCHED_MAX_THREADS;
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (is_held(g, point, thread)) {
			if (!g->held_since[thread])
				g->held_since[thread] = point->step + 1;
			continue;
		}
		if (g->held_since[thread] && g->held_since[thread] < since) {
			freed = thread;
			since = g->held_since[thread];
		}
		g->held_since[thread] = 0;
	}
	if (freed == SCHED_MAX_THREADS)
		return walk(g, point);
	g->until = point->step + pick_geometric(&g->rng, g->permille);
	return freed;
}

static bool is_involved(const struct goal *g, uint64_t thread)
{
	for (uint32_t i = 0; i < g->orders; i++)
		if (g->order[i].first.thread == thread || g->order[i].second.thread == thread)
			return true;
	return false;
}

/*
 * Everybody before the thread that came last in the pattern: it goes on only while nobody
 * else can, a step at a time. The other side before those who have no part in it.
 */
static void other_side(struct goal *g, const struct sched_point *point, struct sched_choice *out)
{
	uint64_t others = 0, involved = 0;

	out->thread = g->last;
	out->steps = 1;
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (thread == g->last)
			continue;
		if (is_involved(g, point->name[thread]) ?
			    rng_below(&g->rng, ++involved) == 0 :
			    !involved && rng_below(&g->rng, ++others) == 0)
			out->thread = thread;
	}
	if (out->thread != g->last)
		out->steps = SCHED_NO_LIMIT;
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
		return;
	}
	/* One that spins waits for somebody; who must not be last then. */
	g->yielded |= point->yields;
	if (g->last == SCHED_MAX_THREADS)
		g->last = point->running;
	if (g->then == GOAL_SWITCH && !g->yielded &&
	    (point->running == g->last || !pick_may_stay(point)))
		other_side(g, point, out);
	else
		out->thread = pick_onward(point);
}

/* Leaves the plan; `hold`: since the thread whose turn it is has to be held. */
static void leave(struct goal *g, const struct sched_point *point, bool hold)
{
	g->guided = false;
	exact_end(&g->guide);
	if (!hold)
		return;
	g->left_at = point->step;
	for (uint32_t i = 0; i < g->orders; i++) {
		g->progress[i].first_left = g->progress[i].first;
		g->progress[i].second_left = g->progress[i].second;
	}
}

/* The thread whose turn it is by the plan; false: the plan is over or cannot be followed. */
static bool guide(struct goal *g, const struct sched_point *point, struct sched_choice *out)
{
	uint64_t turn;

	if (!g->guided)
		return false;
	strategy_exact.pick(&g->guide, point, out);
	if (exact_lost(&g->guide, &turn) || !g->guide.left)
		leave(g, point, false);
	else if (is_held(g, point, out->thread))
		leave(g, point, true);
	return g->guided;
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
	if (!guide(g, point, out))
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
	.guided = "follows a schedule: use snarl replay",
	.follows = true,
	.summary = "the orders a schedule file wants, the rest at random",
	.state_size = sizeof(struct goal),
	.init = goal_init,
	.begin = goal_begin,
	.pick = goal_pick,
	.choose = goal_choose,
};

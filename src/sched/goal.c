/*
 * Goal-directed: enforces the orders of a plan. A thread that stands before the second event of an
 * order whose first event has not happened is held. Among the other threads the strategy makes a
 * sticky random walk. Holding a thread at one site until another reaches its own is the idea of
 * CalFuzzer (Sen, PLDI 2008) and of Maple's active scheduler (Yu et al., OOPSLA 2012). Here events
 * are named by thread, site and n-th visit. goal.h has an example.
 *
 * If the plan has turns, the run follows them up to the point where a thread has to be held
 * (PENELOPE's first region: Sorrentino, Farzan, Madhusudan, FSE 2010). The run with these turns
 * reached the events of the orders, so this run is likely to reach them, too.
 *
 * A held thread goes on as soon as its order allows it.
 *
 * If all runnable threads are held, or spin until a held thread does something, the orders are
 * infeasible from here. The strategy then gives up the orders that hold the thread held last, lets
 * this thread go, and continues with the other orders.
 *
 * While an order is open, pick() grants one step at a time, since every visit to a site counts.
 */
#include "abi/plan.h"
#include "sched/exact.h"
#include "sched/goal.h"
#include "sched/pick.h"

/* sched_point.spin_rounds from which a spinning thread is taken to wait for a held thread. */
#define SPIN_ROUNDS 8u

/* Progress of one order. */
struct progress {
	uint64_t first, second;	/* number of visits that match each name */
	uint64_t first_in_prefix, second_in_prefix;	/* these numbers at `prefix_end` */
	bool first_done, second_done;
	bool given_up;		/* the order cannot come about, or a thread was let go against it */
	bool all_held;		/* given up because all runnable threads were held */
};

struct goal {
	struct exact guide;		/* must be first: see strategy.follows */
	bool guided;			/* the run follows the plan's turns */
	/* Step at which it stopped since a thread had to be held; SCHED_NO_LIMIT: it did not. */
	uint64_t prefix_end;
	uint64_t seed;
	uint32_t permille;		/* chance per step to leave the running thread */
	uint32_t policy;		/* enum goal_then */
	uint32_t orders;		/* entries of `order` and `progress` in use */
	bool truncated;			/* the plan has more orders */
	uint64_t rng;
	uint64_t last_pick;		/* step of the last pick(); SCHED_NO_LIMIT: it is counted */
	uint64_t until;			/* step at which the walk leaves the running thread */
	uint64_t chosen;		/* name of the thread that the last pick() chose */
	uint64_t site;			/* site of that thread's pending event */
	uint32_t open_orders;		/* number of orders neither met nor given up */
	uint32_t last_thread;		/* thread that closed the last open order */
	bool yielded;			/* a thread has yielded since then */
	uint64_t held_since[SCHED_MAX_THREADS];	/* step + 1; 0: not held */
	struct progress progress[GOAL_MAX_ORDERS];
	struct sched_order order[GOAL_MAX_ORDERS];	/* copied: goal_result() has no plan */
};

static bool matches(const struct sched_name *name, uint64_t thread, uint64_t site)
{
	return (!name->thread || name->thread == thread) && (!name->site || name->site == site);
}

static uint64_t nth(const struct sched_name *name)
{
	return name->nth ? name->nth : 1;
}

static bool in_prefix(const struct sched_name *name)
{
	return name->nth == GOAL_HAPPENED;
}

/* True if a step of `thread` at `site` is the first event of this order. */
static bool is_first(const struct goal *g, uint32_t order, uint64_t thread, uint64_t site)
{
	const struct sched_name *first = &g->order[order].first;

	return matches(first, thread, site) && g->progress[order].first + 1 == nth(first);
}

/* True if a step of `thread` at `site` is the second event of this order. */
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

/* No pick() follows the last step of a run, so that step is counted here: it may have crashed. */
void goal_result_of(const void *state, uint32_t from, uint32_t count, struct goal_result *out)
{
	const struct goal *g = state;

	*out = (struct goal_result){ 0 };
	for (uint32_t i = from; i < from + count && i < g->orders; i++) {
		const struct progress *p = &g->progress[i];
		bool pending = g->last_pick != SCHED_NO_LIMIT;
		bool second = pending && p->first_done && is_second(g, i, g->chosen, g->site);
		bool first = pending && is_first(g, i, g->chosen, g->site);

		out->orders++;
		out->met += !p->given_up && (p->second_done || second);
		out->kept += !p->given_up && (p->first_done || first);
		out->infeasible |= p->all_held;
	}
}

static void subtract_prefix_visits(struct sched_name *name, uint64_t count)
{
	if (!in_prefix(name))
		name->nth = count < nth(name) ? nth(name) - count : GOAL_HAPPENED;
}

bool goal_rest(const void *state, uint32_t count, uint64_t *steps, struct sched_order *out)
{
	const struct goal *g = state;

	if (g->orders != count)
		return false;
	*steps = g->prefix_end;
	for (uint32_t i = 0; i < g->orders; i++) {
		out[i] = g->order[i];
		subtract_prefix_visits(&out[i].first, g->progress[i].first_in_prefix);
		subtract_prefix_visits(&out[i].second, g->progress[i].second_in_prefix);
	}
	return g->prefix_end != SCHED_NO_LIMIT;
}

static void goal_init(void *state, const struct sched_params *params)
{
	struct goal *g = state;
	const struct sched_plan *plan = params->plan;
	uint64_t orders = plan ? plan->orders : 0;

	strategy_exact.init(&g->guide, params);
	g->seed = params->seed;
	g->permille = pick_permille(params);
	g->policy = params->depth;
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
	g->prefix_end = SCHED_NO_LIMIT;
	g->rng = pick_seed(g->seed, run->number);
	g->last_pick = SCHED_NO_LIMIT;
	g->until = 0;
	g->open_orders = g->orders;
	g->last_thread = SCHED_MAX_THREADS;
	g->yielded = false;
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		g->held_since[i] = 0;
	for (uint32_t i = 0; i < g->orders; i++) {
		struct progress *p = &g->progress[i];

		*p = (struct progress){ .first_done = in_prefix(&g->order[i].first),
					.second_done = in_prefix(&g->order[i].second) };
		g->open_orders -= p->second_done;
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
			p->given_up |= !had_first;	/* the second event came too early */
		}
		if (is_open && p->second_done)
			g->open_orders--;
	}
}

static bool is_held_by(const struct goal *g, uint32_t order, uint64_t thread, uint64_t site)
{
	const struct progress *p = &g->progress[order];

	return !p->first_done && !p->second_done && !p->given_up &&
	       is_second(g, order, thread, site);
}

static bool is_held(const struct goal *g, const struct sched_point *point, uint32_t thread)
{
	for (uint32_t i = 0; i < g->orders; i++)
		if (is_held_by(g, i, point->name[thread], point->pending[thread].site))
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

/* No thread can go on: gives up the orders that hold the thread held last, and returns it. */
static uint32_t release_latest(struct goal *g, const struct sched_point *point)
{
	uint32_t latest = point->runnable[0];

	for (size_t i = 0; i < point->count; i++)
		if (g->held_since[point->runnable[i]] > g->held_since[latest])
			latest = point->runnable[i];
	for (uint32_t i = 0; i < g->orders; i++)
		if (is_held_by(g, i, point->name[latest], point->pending[latest].site)) {
			g->progress[i].given_up = g->progress[i].all_held = true;
			g->open_orders--;
		}
	g->held_since[latest] = 0;
	return latest;
}

/* A random walk among the threads that are not held. */
static uint32_t random_walk(struct goal *g, const struct sched_point *point)
{
	uint32_t found = SCHED_MAX_THREADS;
	uint64_t seen = 0;
	bool stays = point->runs && !point->yields && point->step < g->until;

	if (stays && !g->held_since[point->running])
		return point->running;
	if (point->spin_rounds >= SPIN_ROUNDS && any_held(g, point))
		return release_latest(g, point);
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
							       release_latest(g, point);
}

/*
 * Updates which threads are held. If an order now allows a held thread to go on, it does so at
 * once, the thread held longest first: steps of other threads could disturb the pattern.
 */
static uint32_t pick_unheld(struct goal *g, const struct sched_point *point)
{
	uint32_t released = SCHED_MAX_THREADS;
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (is_held(g, point, thread)) {
			if (!g->held_since[thread])
				g->held_since[thread] = point->step + 1;
			continue;
		}
		if (g->held_since[thread] && g->held_since[thread] < since) {
			released = thread;
			since = g->held_since[thread];
		}
		g->held_since[thread] = 0;
	}
	if (released == SCHED_MAX_THREADS)
		return random_walk(g, point);
	g->until = point->step + pick_geometric(&g->rng, g->permille);
	return released;
}

static bool is_involved(const struct goal *g, uint64_t thread)
{
	for (uint32_t i = 0; i < g->orders; i++)
		if (g->order[i].first.thread == thread || g->order[i].second.thread == thread)
			return true;
	return false;
}

/*
 * Chooses any other thread before `last_thread`, which goes on only while no other thread can, one
 * step at a time. Threads that the orders name come before the rest.
 */
static void pick_other_side(struct goal *g, const struct sched_point *point,
			    struct sched_choice *out)
{
	uint64_t others = 0, involved = 0;

	out->thread = g->last_thread;
	out->steps = 1;
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (thread == g->last_thread)
			continue;
		if (is_involved(g, point->name[thread]) ?
			    rng_below(&g->rng, ++involved) == 0 :
			    !involved && rng_below(&g->rng, ++others) == 0)
			out->thread = thread;
	}
	if (out->thread != g->last_thread)
		out->steps = SCHED_NO_LIMIT;
}

/* Chooses when no order is open any more. */
static void pick_after_orders(struct goal *g, const struct sched_point *point,
			      struct sched_choice *out)
{
	bool stays = pick_may_stay(point);

	out->steps = SCHED_NO_LIMIT;
	if (g->policy == GOAL_RANDOM) {
		if (!stays || point->step >= g->until) {
			g->until = point->step + pick_geometric(&g->rng, g->permille);
			out->thread = pick_other(point, &g->rng);
		} else {
			out->thread = point->running;
		}
		out->steps = pick_steps(point, g->until);
		return;
	}
	/* A thread that spins may wait for `last_thread`, which must not come last then. */
	g->yielded |= point->yields;
	if (g->last_thread == SCHED_MAX_THREADS)
		g->last_thread = point->running;
	if (g->policy == GOAL_SWITCH && !g->yielded &&
	    (point->running == g->last_thread || !pick_may_stay(point)))
		pick_other_side(g, point, out);
	else
		out->thread = pick_no_preemption(point);
}

/* Stops following the plan's turns; `hold`: because the next thread has to be held. */
static void stop_guide(struct goal *g, const struct sched_point *point, bool hold)
{
	g->guided = false;
	exact_end(&g->guide);
	if (!hold)
		return;
	g->prefix_end = point->step;
	for (uint32_t i = 0; i < g->orders; i++) {
		g->progress[i].first_in_prefix = g->progress[i].first;
		g->progress[i].second_in_prefix = g->progress[i].second;
	}
}

/* Chooses the thread of the plan's current turn. False: the run no longer follows the turns. */
static bool follow_guide(struct goal *g, const struct sched_point *point, struct sched_choice *out)
{
	uint64_t turn;

	if (!g->guided)
		return false;
	strategy_exact.pick(&g->guide, point, out);
	if (exact_lost(&g->guide, &turn) || !g->guide.left)
		stop_guide(g, point, false);
	else if (is_held(g, point, out->thread))
		stop_guide(g, point, true);
	return g->guided;
}

static void goal_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct goal *g = state;

	if (g->last_pick != SCHED_NO_LIMIT && point->step > g->last_pick)
		executed(g, g->chosen, g->site);
	g->last_pick = SCHED_NO_LIMIT;
	if (!g->open_orders) {
		pick_after_orders(g, point, out);
		return;
	}
	if (!follow_guide(g, point, out))
		out->thread = pick_unheld(g, point);
	out->steps = 1;
	g->last_pick = point->step;
	g->chosen = point->name[out->thread];
	g->site = point->pending[out->thread].site;
}

static uint32_t goal_choose(void *state, uint32_t count)
{
	struct goal *g = state;

	return (uint32_t)rng_below(&g->rng, count);
}

static size_t goal_check(const void *state)
{
	const struct goal *g = state;
	uint32_t orders = g->orders;

	if (orders > GOAL_MAX_ORDERS || !sched_is_bool(&g->truncated))
		return 0;
	for (uint32_t i = 0; i < orders; i++) {
		const struct progress *p = &g->progress[i];

		if (!sched_is_bool(&p->first_done) || !sched_is_bool(&p->second_done) ||
		    !sched_is_bool(&p->given_up) || !sched_is_bool(&p->all_held))
			return 0;
	}
	return offsetof(struct goal, order) + orders * sizeof(g->order[0]);
}

const struct strategy strategy_goal = {
	.name = "goal",
	.guided = "follows a schedule: use snarl replay",
	.follows = true,
	.summary = "enforces the orders of a schedule file, the rest at random",
	.state_size = sizeof(struct goal),
	.init = goal_init,
	.begin = goal_begin,
	.pick = goal_pick,
	.choose = goal_choose,
	.check = goal_check,
};

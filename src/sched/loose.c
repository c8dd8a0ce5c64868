/*
 * Loose: follows the turns of a plan where possible. Minimisation (explore/bug/minimise.c) uses it
 * to find out whether a failure remains when some of its switches are left out.
 *
 * Unlike with `exact`, `steps` of a turn is the position up to which its thread runs: the number of
 * its own steps since it was created. A position keeps its meaning when earlier turns are left out:
 * a thread that did not run in these catches up. A turn is skipped if its thread cannot run, or is
 * past the position. If the thread is not created yet, the strategy waits for it. Meanwhile, and
 * after the last turn, the running thread goes on as long as it can.
 *
 * Turns that are no RUN turns follow the RUN turn in which their choice was made. They apply if
 * that choice comes up again. Otherwise the first alternative is chosen.
 *
 * The plan's orders are not enforced, only observed.
 */
#include "abi/plan.h"
#include "sched/loose.h"
#include "sched/pick.h"

struct watched {
	struct sched_order order;
	uint64_t first, second;	/* number of visits that match each name so far */
	bool first_done;	/* the first event has happened */
	bool broken;		/* the second event has happened before the first */
};

struct loose {
	const struct sched_plan *plan;
	/* Index of the current turn, or of a later one that is no RUN turn. */
	uint64_t next;
	uint64_t last_pick;	/* step of the last pick() */
	uint32_t chosen;	/* thread that it chose; SCHED_MAX_THREADS: no pick() yet */
	uint64_t name, site;	/* name of that thread, and the site of its pending event */
	uint64_t switches, preemptions;	/* see struct loose_result */
	uint64_t taken[SCHED_MAX_THREADS];	/* number of steps that each thread has taken */
	uint32_t orders;	/* entries of `watched` in use */
	struct watched watched[LOOSE_MAX_ORDERS];
};

static uint64_t turn_count(const struct loose *l)
{
	return l->plan ? l->plan->turns : 0;
}

static bool is_nth_visit(const struct sched_name *name, uint64_t thread, uint64_t site,
			 uint64_t *count)
{
	return (!name->thread || name->thread == thread) && (!name->site || name->site == site) &&
	       ++*count == (name->nth ? name->nth : 1);
}

static void observe(struct watched *w, uint64_t thread, uint64_t site)
{
	if (is_nth_visit(&w->order.second, thread, site, &w->second))
		w->broken = !w->first_done;
	if (is_nth_visit(&w->order.first, thread, site, &w->first))
		w->first_done = true;
}

/* No pick() follows the last step of a run, so that step is counted here: it may have crashed. */
void loose_result(const void *state, struct loose_result *out)
{
	const struct loose *l = state;

	*out = (struct loose_result){ .switches = l->switches, .preemptions = l->preemptions,
				      .orders = l->orders };
	for (uint32_t i = 0; i < l->orders; i++) {
		struct watched w = l->watched[i];

		if (l->chosen < SCHED_MAX_THREADS)
			observe(&w, l->name, l->site);
		out->kept += w.first_done && !w.broken;
		out->broken += w.broken;
	}
}

static void loose_init(void *state, const struct sched_params *params)
{
	struct loose *l = state;
	uint64_t orders = params->plan ? ((const struct sched_plan *)params->plan)->orders : 0;

	l->plan = params->plan;
	l->orders = orders < LOOSE_MAX_ORDERS ? (uint32_t)orders : LOOSE_MAX_ORDERS;
}

static void loose_begin(void *state, const struct sched_run *run)
{
	struct loose *l = state;

	(void)run;
	l->next = 0;
	l->last_pick = 0;
	l->chosen = SCHED_MAX_THREADS;
	l->switches = l->preemptions = 0;
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		l->taken[i] = 0;
	for (uint32_t i = 0; i < l->orders; i++)
		l->watched[i] = (struct watched){ .order = sched_plan_orders(l->plan)[i] };
}

/* The thread of a turn if it can run and is not at its position yet; else SCHED_MAX_THREADS. */
static uint32_t thread_of_turn(const struct loose *l, const struct sched_turn *turn,
		      const struct sched_point *point)
{
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (point->name[thread] == turn->name)
			return l->taken[thread] < turn->steps ? thread : SCHED_MAX_THREADS;
	}
	return SCHED_MAX_THREADS;
}

static bool is_created(const struct sched_turn *turn, const struct sched_point *point)
{
	for (size_t i = 0; i < point->threads; i++)
		if (point->name[i] == turn->name)
			return true;
	return false;
}

static void follow(struct loose *l, const struct sched_point *point, struct sched_choice *out)
{
	for (; l->next < turn_count(l); l->next++) {
		const struct sched_turn *turn = &sched_plan_turns(l->plan)[l->next];
		uint32_t thread;

		if (turn->kind != SCHED_TURN_RUN)
			continue;
		thread = thread_of_turn(l, turn, point);
		if (thread == SCHED_MAX_THREADS && !is_created(turn, point))
			break;
		if (thread == SCHED_MAX_THREADS)
			continue;
		/* A thread that yields in a turn without an end must not starve the others. */
		if (turn->steps == SCHED_NO_LIMIT && thread == point->running &&
		    !pick_may_stay(point))
			continue;
		out->thread = thread;
		out->steps = turn->steps == SCHED_NO_LIMIT ? turn->steps :
							     turn->steps - l->taken[thread];
		return;
	}
	out->thread = pick_no_preemption(point);
	out->steps = SCHED_NO_LIMIT;
}

static void loose_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct loose *l = state;

	if (l->chosen < SCHED_MAX_THREADS) {
		l->taken[l->chosen] += point->step - l->last_pick;
		for (uint32_t i = 0; i < l->orders && point->step > l->last_pick; i++)
			observe(&l->watched[i], l->name, l->site);
	} else {
		l->taken[point->running] += point->step;
	}
	follow(l, point, out);
	if (out->thread != point->running) {
		l->switches++;
		l->preemptions += pick_may_stay(point);
	}
	l->last_pick = point->step;
	l->chosen = out->thread;
	if (l->orders) {
		l->name = point->name[out->thread];
		l->site = point->pending[out->thread].site;
		out->steps = 1;
	}
}

/*
 * The turn after the current RUN turn if it is no RUN turn itself; else NULL. *at becomes its
 * index.
 */
static const struct sched_turn *next_choice(const struct loose *l, uint64_t *at)
{
	const struct sched_turn *turns = l->plan ? sched_plan_turns(l->plan) : NULL;

	*at = l->next;
	if (*at < turn_count(l) && turns[*at].kind == SCHED_TURN_RUN)
		++*at;
	return *at < turn_count(l) && turns[*at].kind != SCHED_TURN_RUN ? &turns[*at] : NULL;
}

/* The runtime asks here whether a time-out expires early: 1 means yes. */
static uint32_t loose_choose(void *state, uint32_t count)
{
	struct loose *l = state;
	uint64_t at;
	const struct sched_turn *turn = next_choice(l, &at);

	if (!turn || turn->kind != SCHED_TURN_EXPIRE || count < 2)
		return 0;
	l->next = at + 1;
	return 1;
}

static uint32_t loose_wake(void *state, const uint64_t *names, uint32_t count)
{
	struct loose *l = state;
	uint64_t at;
	const struct sched_turn *turn = next_choice(l, &at);

	for (uint32_t i = 0; turn && turn->kind == SCHED_TURN_WAKE && i < count; i++)
		if (names[i] == turn->name) {
			l->next = at + 1;
			return i;
		}
	return 0;
}

static size_t loose_check(const void *state)
{
	const struct loose *l = state;
	uint32_t orders = l->orders;

	if (orders > LOOSE_MAX_ORDERS)
		return 0;
	for (uint32_t i = 0; i < orders; i++)
		if (!sched_is_bool(&l->watched[i].first_done) ||
		    !sched_is_bool(&l->watched[i].broken))
			return 0;
	return offsetof(struct loose, watched) + orders * sizeof(l->watched[0]);
}

const struct strategy strategy_loose = {
	.name = "loose",
	.guided = "follows a schedule: use snarl replay",
	.summary = "the turns of a schedule where possible",
	.state_size = sizeof(struct loose),
	.init = loose_init,
	.begin = loose_begin,
	.pick = loose_pick,
	.choose = loose_choose,
	.wake = loose_wake,
	.check = loose_check,
};

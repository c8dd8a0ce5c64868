/*
 * The turns of a plan as far as they can be had: for trying what remains of a
 * failure when some of its switches are left out.
 *
 * Unlike with `exact`, `steps` of a turn does not say how many steps the thread takes,
 * but until how many it goes, counted from its beginning: such a position keeps its
 * meaning when turns before it are missing, and a thread that was not let run
 * earlier catches up. A turn whose thread cannot run, or is that far already, is passed
 * over; one whose thread is not created yet is waited for. As long as that takes, and after
 * the last turn, the running thread goes on as long as it can.
 *
 * Turns of other kinds stand behind the one in which they came up, and hold if that
 * comes up again; else the first choice is made.
 *
 * The plan's orders are not enforced, only watched.
 */
#include "abi/plan.h"
#include "sched/loose.h"
#include "sched/pick.h"

struct watched {
	struct sched_order order;
	uint64_t first, second;	/* how often each name has been at its site */
	bool began, broken;	/* the first has happened; the second before it */
};

struct loose {
	const struct sched_plan *plan;
	uint64_t next;		/* the turn under way, or the one after it that is no run */
	uint64_t asked;		/* step of the last question */
	uint32_t chosen;	/* who was to go on from there; SCHED_MAX_THREADS: nobody yet */
	uint64_t name, site;	/* … its name, and where it stood */
	uint64_t switches, preemptions;
	uint64_t taken[SCHED_MAX_THREADS];	/* steps of each thread */
	uint32_t orders;
	struct watched watched[LOOSE_MAX_ORDERS];
};

static uint64_t turns_of(const struct loose *l)
{
	return l->plan ? l->plan->turns : 0;
}

static bool is_now(const struct sched_name *name, uint64_t thread, uint64_t site, uint64_t *count)
{
	return (!name->thread || name->thread == thread) && (!name->site || name->site == site) &&
	       ++*count == (name->nth ? name->nth : 1);
}

static void watch(struct watched *w, uint64_t thread, uint64_t site)
{
	if (is_now(&w->order.second, thread, site, &w->second))
		w->broken = !w->began;
	if (is_now(&w->order.first, thread, site, &w->first))
		w->began = true;
}

/* Nobody asks after the last step of a run, but it was taken: perhaps it crashed. */
void loose_result(const void *state, struct loose_result *out)
{
	const struct loose *l = state;

	*out = (struct loose_result){ .switches = l->switches, .preemptions = l->preemptions,
				      .orders = l->orders };
	for (uint32_t i = 0; i < l->orders; i++) {
		struct watched w = l->watched[i];

		if (l->chosen < SCHED_MAX_THREADS)
			watch(&w, l->name, l->site);
		out->kept += w.began && !w.broken;
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
	l->asked = 0;
	l->chosen = SCHED_MAX_THREADS;
	l->switches = l->preemptions = 0;
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		l->taken[i] = 0;
	for (uint32_t i = 0; i < l->orders; i++)
		l->watched[i] = (struct watched){ .order = sched_plan_orders(l->plan)[i] };
}

/* The thread of a turn, if it can run and is not there yet; else SCHED_MAX_THREADS. */
static uint32_t ready(const struct loose *l, const struct sched_turn *turn,
		      const struct sched_point *point)
{
	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (point->name[thread] == turn->name)
			return l->taken[thread] < turn->steps ? thread : SCHED_MAX_THREADS;
	}
	return SCHED_MAX_THREADS;
}

static bool is_born(const struct sched_turn *turn, const struct sched_point *point)
{
	for (size_t i = 0; i < point->threads; i++)
		if (point->name[i] == turn->name)
			return true;
	return false;
}

static void follow(struct loose *l, const struct sched_point *point, struct sched_choice *out)
{
	for (; l->next < turns_of(l); l->next++) {
		const struct sched_turn *turn = &sched_plan_turns(l->plan)[l->next];
		uint32_t thread;

		if (turn->kind != SCHED_TURN_RUN)
			continue;
		thread = ready(l, turn, point);
		if (thread == SCHED_MAX_THREADS && !is_born(turn, point))
			break;
		if (thread == SCHED_MAX_THREADS)
			continue;
		/* One without an end must not keep the others from ever running. */
		if (turn->steps == SCHED_NO_LIMIT && thread == point->running && !pick_may_stay(point))
			continue;
		out->thread = thread;
		out->steps = turn->steps == SCHED_NO_LIMIT ? turn->steps :
							     turn->steps - l->taken[thread];
		return;
	}
	out->thread = pick_onward(point);
	out->steps = SCHED_NO_LIMIT;
}

static void loose_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct loose *l = state;

	if (l->chosen < SCHED_MAX_THREADS) {
		l->taken[l->chosen] += point->step - l->asked;
		for (uint32_t i = 0; i < l->orders && point->step > l->asked; i++)
			watch(&l->watched[i], l->name, l->site);
	} else {
		l->taken[point->running] += point->step;
	}
	follow(l, point, out);
	if (out->thread != point->running) {
		l->switches++;
		l->preemptions += pick_may_stay(point);
	}
	l->asked = point->step;
	l->chosen = out->thread;
	if (l->orders) {
		l->name = point->name[out->thread];
		l->site = point->pending[out->thread].site;
		out->steps = 1;
	}
}

/* The next turn that is no run, if only the one under way lies before it. */
static const struct sched_turn *beside(const struct loose *l, uint64_t *at)
{
	const struct sched_turn *turns = l->plan ? sched_plan_turns(l->plan) : NULL;

	*at = l->next;
	if (*at < turns_of(l) && turns[*at].kind == SCHED_TURN_RUN)
		++*at;
	return *at < turns_of(l) && turns[*at].kind != SCHED_TURN_RUN ? &turns[*at] : NULL;
}

/* Whether a time-out comes early is all that is asked here. */
static uint32_t loose_choose(void *state, uint32_t count)
{
	struct loose *l = state;
	uint64_t at;
	const struct sched_turn *turn = beside(l, &at);

	if (!turn || turn->kind != SCHED_TURN_EXPIRE || count < 2)
		return 0;
	l->next = at + 1;
	return 1;
}

static uint32_t loose_wake(void *state, const uint64_t *names, uint32_t count)
{
	struct loose *l = state;
	uint64_t at;
	const struct sched_turn *turn = beside(l, &at);

	for (uint32_t i = 0; turn && turn->kind == SCHED_TURN_WAKE && i < count; i++)
		if (names[i] == turn->name) {
			l->next = at + 1;
			return i;
		}
	return 0;
}

const struct strategy strategy_loose = {
	.name = "loose",
	.guided = "follows a schedule: use snarl replay",
	.summary = "the turns of a schedule as far as they can be had",
	.state_size = sizeof(struct loose),
	.init = loose_init,
	.begin = loose_begin,
	.pick = loose_pick,
	.choose = loose_choose,
	.wake = loose_wake,
};

/*
 * Feedback: the turns of a plan as far as they can be had, then a random walk. The plan is a
 * mutation of what an earlier run did that showed something new (explore/search/corpus.h); without
 * one, all is random.
 *
 * A turn whose thread cannot run, is not there or yields is passed over.
 */
#include "abi/plan.h"
#include "sched/pick.h"

struct feedback {
	const struct sched_plan *plan;
	uint64_t seed, rng;
	uint32_t permille;
	uint64_t next;		/* first turn not begun */
	uint64_t until;		/* the step at which the thread under way is left */
	uint32_t thread;	/* … that one, SCHED_MAX_THREADS: none */
};

static void feedback_init(void *state, const struct sched_params *params)
{
	struct feedback *f = state;

	f->plan = params->plan;
	f->seed = params->seed;
	f->permille = pick_permille(params);
}

static void feedback_begin(void *state, const struct sched_run *run)
{
	struct feedback *f = state;

	f->rng = pick_seed(f->seed, run->number);
	f->next = f->until = 0;
	f->thread = SCHED_MAX_THREADS;
}

/* Begins the next turn that can be had; false: there is none. */
static bool begin_turn(struct feedback *f, const struct sched_point *point)
{
	while (f->plan && f->next < f->plan->turns) {
		const struct sched_turn *turn = &sched_plan_turns(f->plan)[f->next++];

		if (turn->kind != SCHED_TURN_RUN || !turn->steps)
			continue;
		for (size_t i = 0; i < point->count; i++) {
			uint32_t thread = point->runnable[i];

			if (point->name[thread] != turn->name ||
			    (point->yields && thread == point->running && point->count > 1))
				continue;
			f->thread = thread;
			f->until = point->step + turn->steps;
			return true;
		}
	}
	return false;
}

static void feedback_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct feedback *f = state;
	bool goes_on = f->thread < SCHED_MAX_THREADS && point->step < f->until &&
		       pick_runnable(point, f->thread) &&
		       !(point->yields && f->thread == point->running && point->count > 1);

	if (!goes_on && !begin_turn(f, point)) {
		f->thread = pick_other(point, &f->rng);
		f->until = point->step + pick_geometric(&f->rng, f->permille);
	}
	out->thread = f->thread;
	out->steps = pick_steps(point, f->until);
}

static uint32_t feedback_choose(void *state, uint32_t count)
{
	struct feedback *f = state;

	return (uint32_t)rng_below(&f->rng, count);
}

const struct strategy strategy_feedback = {
	.name = "feedback",
	.summary = "mutations of runs in which places depended on new ones",
	.state_size = sizeof(struct feedback),
	.init = feedback_init,
	.begin = feedback_begin,
	.pick = feedback_pick,
	.choose = feedback_choose,
};

/*
 * Feedback: follows the turns of a plan where possible, then makes a random walk. The plan is a
 * mutation of the schedule of an earlier run that showed something new (explore/search/corpus.h).
 * Without a plan the whole run is a random walk.
 *
 * A turn is skipped if its thread does not exist, cannot run or yields.
 */
#include "abi/plan.h"
#include "sched/pick.h"

struct feedback {
	const struct sched_plan *plan;
	uint64_t seed, rng;
	uint32_t permille;
	uint64_t next;		/* index of the first turn not begun */
	uint64_t until;		/* step at which the current turn ends */
	uint32_t thread;	/* thread of the current turn; SCHED_MAX_THREADS: none yet */
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

/* Begins the next turn of the plan that is possible; false: there is none. */
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
	.summary = "mutations of schedules that showed new dependencies",
	.state_size = sizeof(struct feedback),
	.init = feedback_init,
	.begin = feedback_begin,
	.pick = feedback_pick,
	.choose = feedback_choose,
};

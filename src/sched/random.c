/*
 * A sticky random walk: before every step, the strategy leaves the running thread with a fixed
 * chance, for any of the others. With chance 1/2 and two threads this is the plain random walk.
 * Small chances give runs with few preemptions, in which most bugs show (Musuvathi and Qadeer, PLDI
 * 2007). The length of a turn is drawn at its start, so that the runtime need not call pick()
 * before every step.
 */
#include "sched/pick.h"

struct random {
	uint64_t seed;
	uint32_t permille;
	uint64_t rng;
	uint64_t until;		/* step at which the turn of the running thread ends */
};

static void random_init(void *state, const struct sched_params *params)
{
	struct random *r = state;

	r->seed = params->seed;
	r->permille = pick_permille(params);
}

static void random_begin(void *state, const struct sched_run *run)
{
	struct random *r = state;

	r->rng = pick_seed(r->seed, run->number);
	r->until = 0;
}

static void random_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct random *r = state;
	bool stays = pick_may_stay(point) && point->step < r->until;

	if (!stays)
		r->until = point->step + pick_geometric(&r->rng, r->permille);
	if (stays)
		out->thread = point->running;
	else if (point->step)
		out->thread = pick_other(point, &r->rng);
	else
		out->thread = pick_any(point, &r->rng);	/* at the start no thread is left */
	out->steps = pick_steps(point, r->until);
}

static uint32_t random_choose(void *state, uint32_t count)
{
	struct random *r = state;

	return (uint32_t)rng_below(&r->rng, count);
}

const struct strategy strategy_random = {
	.name = "random",
	.summary = "random walk with a fixed chance per step to leave the thread",
	.state_size = sizeof(struct random),
	.init = random_init,
	.begin = random_begin,
	.pick = random_pick,
	.choose = random_choose,
};

/*
 * Round robin: every thread in turn runs for a quantum of steps, which is 1 in the first run and
 * grows by 1 with every run. Nothing is random, and the seed has no effect. The search ends when
 * the quantum is so long that no thread uses it up.
 */
#include "sched/pick.h"

struct roundrobin {
	uint64_t quantum;	/* steps */
	uint64_t until;		/* step at which the turn of the running thread ends */
	bool used_up;		/* the quantum ended a turn of this run */
};

static void roundrobin_init(void *state, const struct sched_params *params)
{
	(void)state;
	(void)params;
}

static void roundrobin_begin(void *state, const struct sched_run *run)
{
	struct roundrobin *r = state;

	r->quantum = run->number + 1;
	r->until = r->quantum;	/* the thread that runs first has the first turn */
	r->used_up = false;
}

static void roundrobin_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct roundrobin *r = state;

	if (pick_may_stay(point) && point->step < r->until) {
		out->thread = point->running;
	} else {
		if (pick_may_stay(point) && point->count > 1)
			r->used_up = true;
		out->thread = pick_next(point, point->running);
		r->until = point->step + r->quantum;
	}
	out->steps = pick_steps(point, r->until);
}

static size_t roundrobin_check(const void *state)
{
	const struct roundrobin *r = state;

	return sched_is_bool(&r->used_up) ? sizeof(*r) : 0;
}

static bool roundrobin_end(void *state)
{
	struct roundrobin *r = state;

	return r->used_up;
}

const struct strategy strategy_roundrobin = {
	.name = "roundrobin",
	.summary = "every thread in turn; the quantum grows by a step per run",
	.state_size = sizeof(struct roundrobin),
	.init = roundrobin_init,
	.begin = roundrobin_begin,
	.pick = roundrobin_pick,
	.check = roundrobin_check,
	.end = roundrobin_end,
};

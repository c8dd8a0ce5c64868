/*
 * Round robin: every thread in turn for a quantum of steps, 1 in the first run
 * and one more in every run. Nothing is random: the seed has no say, and once
 * the quantum is so long that nobody uses it up there is nothing left to try.
 */
#include "sched/pick.h"

struct roundrobin {
	uint64_t quantum;
	uint64_t until;
	bool used_up;	/* in this run somebody was stopped by the quantum */
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
	r->until = r->quantum;	/* whoever runs first has the first turn */
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

static bool roundrobin_end(void *state)
{
	struct roundrobin *r = state;

	return r->used_up;
}

const struct strategy strategy_roundrobin = {
	.name = "roundrobin",
	.summary = "every thread in turn, for one step more in every run",
	.state_size = sizeof(struct roundrobin),
	.init = roundrobin_init,
	.begin = roundrobin_begin,
	.pick = roundrobin_pick,
	.end = roundrobin_end,
};

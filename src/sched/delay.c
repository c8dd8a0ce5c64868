/*
 * Random delays, as in ConTest (Edelstein, Farchi, Nir, Ratsaby, Ur, IBM Systems Journal 2002) and
 * in Maple's baseline RandDelay. At random steps the running thread falls asleep for a random
 * number of steps. When it wakes up, it runs at once. In between, threads run without preemption.
 * If all runnable threads sleep, the first to wake up does so now, since no steps would pass. After
 * a thread yields, any other thread runs next, asleep or not.
 *
 * The mean distance of two delays is 1/8 of the run, or 1000/switch_permille steps. A delay has
 * the same distribution: up to twice the mean.
 */
#include "sched/pick.h"

struct delay {
	uint64_t seed;
	uint32_t permille;
	uint64_t rng;
	uint64_t mean;				/* mean number of steps between delays */
	uint64_t next;				/* step of the next delay */
	uint64_t wakes[SCHED_MAX_THREADS];	/* step at which a thread wakes up; 0: awake */
};

static void delay_init(void *state, const struct sched_params *params)
{
	struct delay *d = state;

	d->seed = params->seed;
	d->permille = params->switch_permille;
}

/* Uniform in 1 to 2 * mean - 1. */
static uint64_t distance(struct delay *d)
{
	return 1 + rng_below(&d->rng, 2 * d->mean - 1);
}

static void delay_begin(void *state, const struct sched_run *run)
{
	struct delay *d = state;

	d->rng = pick_seed(d->seed, run->number);
	d->mean = run->length / 8;
	if (d->permille)
		d->mean = 1000 / d->permille;
	else if (!run->length)
		d->mean = 1ull << (2 + rng_below(&d->rng, 10));
	if (d->mean < 1)
		d->mean = 1;
	d->next = distance(d);
	for (size_t i = 0; i < SCHED_MAX_THREADS; i++)
		d->wakes[i] = 0;
}

/* The sleeping runnable thread that wakes up first; SCHED_MAX_THREADS if none sleeps. */
static uint32_t first_sleeper(const struct delay *d, const struct sched_point *point)
{
	uint32_t first = SCHED_MAX_THREADS;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (d->wakes[thread] &&
		    (first == SCHED_MAX_THREADS || d->wakes[thread] < d->wakes[first]))
			first = thread;
	}
	return first;
}

/* A uniform choice among the runnable threads that are awake; SCHED_MAX_THREADS if all sleep. */
static uint32_t any_awake(struct delay *d, const struct sched_point *point)
{
	uint32_t found = SCHED_MAX_THREADS;
	uint64_t seen = 0;

	for (size_t i = 0; i < point->count; i++) {
		uint32_t thread = point->runnable[i];

		if (!d->wakes[thread] && rng_below(&d->rng, ++seen) == 0)
			found = thread;
	}
	return found;
}

static uint32_t choose_thread(struct delay *d, const struct sched_point *point)
{
	uint32_t sleeper = first_sleeper(d, point);
	uint32_t thread;

	/* It may spin until a certain thread acts, which two short sleepers could starve. */
	if (point->yields)
		return pick_other(point, &d->rng);
	if (sleeper < SCHED_MAX_THREADS && d->wakes[sleeper] <= point->step)
		return sleeper;
	if (pick_may_stay(point) && !d->wakes[point->running])
		return point->running;
	thread = any_awake(d, point);
	return thread < SCHED_MAX_THREADS ? thread : sleeper;
}

static void delay_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct delay *d = state;
	uint64_t until;
	uint32_t sleeper;

	if (point->step >= d->next) {
		if (point->runs)
			d->wakes[point->running] = point->step + distance(d);
		d->next = point->step + distance(d);
	}
	out->thread = choose_thread(d, point);
	d->wakes[out->thread] = 0;
	sleeper = first_sleeper(d, point);
	until = d->next;
	if (sleeper < SCHED_MAX_THREADS && d->wakes[sleeper] < until)
		until = d->wakes[sleeper];
	out->steps = pick_steps(point, until);
}

static uint32_t delay_choose(void *state, uint32_t count)
{
	struct delay *d = state;

	return (uint32_t)rng_below(&d->rng, count);
}

const struct strategy strategy_delay = {
	.name = "delay",
	.summary = "no preemptions, but threads fall asleep at random steps",
	.state_size = sizeof(struct delay),
	.init = delay_init,
	.begin = delay_begin,
	.pick = delay_pick,
	.choose = delay_choose,
};

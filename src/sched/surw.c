/*
 * Selectively uniform random walk, SURW (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025). The next
 * thread is drawn with a chance in proportion to the events it has left, including those of threads
 * that it has not created yet. If the counts are right and no thread blocks, every interleaving has
 * the same chance: creation orders the events as a forest, and the share of its linear extensions
 * that begin with a certain root is the share of events below that root.
 *
 * The counts come from an earlier run. Threads are recognised by name, since their numbers depend
 * on the schedule. A thread without a count has one event left, so that the first run is a plain
 * random walk. Unlike in the paper, all visible events are of interest.
 */
#include "abi/plan.h"
#include "sched/pick.h"

/* A thread of the earlier run. */
struct profile {
	uint64_t name;
	uint64_t events;	/* number of its visible events */
	uint64_t below;		/* number of visible events of all its descendants */
	uint32_t parent;	/* index of the thread that created it */
	uint32_t children;	/* number of threads that it created */
	uint32_t live;		/* its number in this run; SCHED_MAX_THREADS: not created yet */
};

struct surw {
	uint64_t seed;
	uint64_t rng;
	uint64_t last_pick;	/* step of the last pick() */
	uint32_t chosen;	/* thread that it chose */
	uint32_t known;		/* number of threads of this run that adopt() has handled */
	uint32_t profiles;	/* entries of `profile` in use */
	struct profile profile[SCHED_MAX_THREADS];
	uint64_t own[SCHED_MAX_THREADS];	/* number of events that each thread has left */
	/* Number of events left of those descendants of each thread that do not exist yet. */
	uint64_t unborn[SCHED_MAX_THREADS];
};

static void surw_init(void *state, const struct sched_params *params)
{
	struct surw *s = state;

	s->seed = params->seed;
}

static void surw_begin(void *state, const struct sched_run *run)
{
	struct surw *s = state;
	uint32_t n = run->threads < SCHED_MAX_THREADS ? run->threads : SCHED_MAX_THREADS;

	s->rng = pick_seed(s->seed, run->number);
	s->last_pick = 0;
	s->chosen = 0;
	s->known = 0;
	s->profiles = run->events && run->parent ? n : 0;
	for (uint32_t i = 0; i < s->profiles; i++) {
		struct profile *p = &s->profile[i];

		p->events = run->events[i];
		p->below = 0;
		p->parent = run->parent[i];
		p->children = 0;
		p->live = SCHED_MAX_THREADS;
		p->name = i ? 0 : SCHED_MAIN;
		if (i && p->parent < i)
			p->name = sched_child_name(s->profile[p->parent].name,
						   ++s->profile[p->parent].children);
	}
	/* Children have higher numbers than their parents. */
	for (uint32_t i = s->profiles; i-- > 1;) {
		struct profile *p = &s->profile[i];

		if (p->parent < i)
			s->profile[p->parent].below += p->events + p->below;
	}
}

/* Moves the events of a thread that was just created from its parent's `unborn` to its own. */
static void adopt(struct surw *s, uint32_t thread, uint64_t name)
{
	s->own[thread] = 0;
	s->unborn[thread] = 0;
	for (uint32_t i = 0; i < s->profiles; i++) {
		struct profile *p = &s->profile[i];
		uint32_t parent =
			i && p->parent < i ? s->profile[p->parent].live : SCHED_MAX_THREADS;

		if (p->name != name)
			continue;
		p->live = thread;
		s->own[thread] = p->events;
		s->unborn[thread] = p->below;
		if (parent < SCHED_MAX_THREADS)
			s->unborn[parent] -= p->events + p->below;
		return;
	}
}

static uint64_t weight_of(const struct surw *s, uint32_t thread)
{
	uint64_t weight = s->own[thread] + s->unborn[thread];

	return weight ? weight : 1;
}

static void surw_pick(void *state, const struct sched_point *point, struct sched_choice *out)
{
	struct surw *s = state;
	bool leave = point->runs && !pick_may_stay(point);
	uint64_t total = 0, drawn;

	if (point->step > s->last_pick && s->own[s->chosen])
		s->own[s->chosen]--;
	for (; s->known < point->threads; s->known++)
		adopt(s, s->known, point->name[s->known]);
	for (size_t i = 0; i < point->count; i++)
		if (!leave || point->runnable[i] != point->running)
			total += weight_of(s, point->runnable[i]);
	drawn = rng_below(&s->rng, total);
	for (size_t i = 0; i < point->count; i++) {
		uint64_t weight = weight_of(s, point->runnable[i]);

		if (leave && point->runnable[i] == point->running)
			continue;
		out->thread = point->runnable[i];
		if (drawn < weight)
			break;
		drawn -= weight;
	}
	out->steps = 1;
	s->last_pick = point->step;
	s->chosen = out->thread;
}

static uint32_t surw_choose(void *state, uint32_t count)
{
	struct surw *s = state;

	return (uint32_t)rng_below(&s->rng, count);
}

const struct strategy strategy_surw = {
	.name = "surw",
	.summary = "all interleavings with the same chance, by counts of an earlier run",
	.state_size = sizeof(struct surw),
	.init = surw_init,
	.begin = surw_begin,
	.pick = surw_pick,
	.choose = surw_choose,
};

#include "explore/cover/expose_active.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/mix.h"
#include "base/mem.h"

#define ASSIGNMENTS_MAX 16u		/* choices of who plays that are kept of a root */
#define TURNS_BYTES_MAX (64u << 20)	/* turns kept for all of them, bytes */
#define RANDOM_PERMILLE 900u		/* permille of steps by chance before the first event */
#define PASS_RUNS 32u		/* runs before it is looked at what they exposed by the way */

/* Who may play, and the run that showed it. */
struct expose_assignments {
	struct expose_assignment parts[ASSIGNMENTS_MAX];
	size_t count, next;
	struct profile guide;	/* without turns: there was no room */
};

/* One run of a pass. */
struct try {
	struct expose_target *target;
	struct expose_assignment parts;	/* thread 0: nobody is cast */
	uint64_t number, way;
	uint32_t permille;
	/* What came of it. */
	enum expose_outcome outcome;
	bool failed, ended;
	struct expose_assignments *cast;
};

struct expose {
	struct search_config config;
	unsigned tries;
	struct expose_target **order;	/* in which they are tried */
	size_t count;
	uint64_t runs;		/* of the statistics when it began */
	double seconds;
	size_t kept;		/* bytes of turns */
	bool over;
	/* The pass under way: a search, each run of which is a try of another target. */
	unsigned level;		/* runs that its targets had before */
	size_t at;		/* the next target at this level */
	struct try *tried;
	uint64_t try_count, most;	/* most: runs that the budget allows */
	struct search *search;
};

static void cast_free(struct expose_assignments *c)
{
	if (c)
		profile_free(&c->guide);
	free(c);
}

struct expose_target expose_target_of(const struct iroot *iroot, const struct places *places)
{
	struct expose_target t = { .iroot = *iroot };

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		t.library |= iroot->event[i].site && !places_in_program(places, iroot->event[i].site);
	return t;
}

void expose_target_free(struct expose_target *t)
{
	cast_free(t->cast);
	t->cast = NULL;
}

/* Its own, whatever other targets there are. */
static uint64_t seed_of(const struct expose *a, const struct iroot *r)
{
	uint64_t h = mix_add(a->config.plan.seed, r->idiom);

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		h = mix_add(mix_add(h, r->event[i].site), r->event[i].access);
	return h;
}

/* --- a run --- */

static void begin(const struct expose *a, const struct search_run *run)
{
	struct server *s = run->server;
	const struct try *t = &a->tried[run->number];
	const struct profile *guide = t->parts.part[0].thread ? &t->target->cast->guide : NULL;
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);
	struct sched_turn *turns = (struct sched_turn *)(plan + 1);
	struct sched_wanted *wanted;

	snprintf(q->strategy, sizeof(q->strategy), "active");
	q->seed = seed_of(a, &t->target->iroot);
	q->run = t->number;
	q->depth = 0;
	q->switch_permille = t->permille;
	*plan = (struct sched_plan){ .wanted = 1 };
	if (guide && guide->turns && guide->known == q->shared_count) {
		plan->turns = guide->count;
		memcpy(turns, guide->turns, guide->count * sizeof(*turns));
	}
	wanted = (struct sched_wanted *)(turns + plan->turns);
	*wanted = (struct sched_wanted){
		.iroot = t->target->iroot, .way = t->way,
		.part = { t->parts.part[0], t->parts.part[1] },
		.prefix = plan->turns ? t->parts.prefix : 0 };
	plan->size = (size_t)((char *)(wanted + 1) - (char *)plan);
	q->plan_size = plan->size;
}

/* What the run tells about who may play; the first that does is kept. */
static struct expose_assignments *learn(const struct expose *a, const struct try *t, const struct server *s,
				 const void *state)
{
	const struct active_visit *seen[IROOT_EVENTS];
	uint32_t count[IROOT_EVENTS];
	struct expose_assignments *c = xcalloc(1, sizeof(*c));

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		count[i] = active_visits(state, i, &seen[i]);
	c->count = expose_assignments(&t->target->iroot, seen, count, seed_of(a, &t->target->iroot),
				  c->parts, ASSIGNMENTS_MAX);
	if (!c->count) {
		free(c);
		return NULL;
	}
	c->guide.turns = profile_turns(s->block, &c->guide.count);
	c->guide.known = s->block->request.shared_count;
	return c;
}

static void note(const struct expose *a, const struct search_run *run)
{
	const struct server *s = run->server;
	struct try *t = &a->tried[run->number];
	const void *state = (const char *)s->block + s->block->state;
	const struct iroot_shape *shape = &iroot_shapes[t->target->iroot.idiom];
	struct active_result r;

	active_result(state, &r);
	t->ended = true;
	t->failed = r.exposed && run->result->verdict == ORACLE_FAILED;
	t->outcome = r.exposed ? EXPOSE_DONE : r.possible ? EXPOSE_MISSED : EXPOSE_IMPOSSIBLE;
	for (unsigned i = 0; t->outcome == EXPOSE_MISSED && i < shape->events; i++)
		if (!r.reached[i])
			t->outcome = EXPOSE_UNREACHED;
	if (!r.exposed && !t->target->cast && s->block->report.outcome != CTL_RUNNING)
		t->cast = learn(a, t, s, state);
}

static void settle(struct expose *a)
{
	for (uint64_t i = 0; i < a->try_count; i++) {
		struct try *t = &a->tried[i];
		struct expose_target *target = t->target;

		if (!t->ended)
			continue;
		target->runs++;
		target->failed |= t->failed;
		if (t->outcome > target->outcome)
			target->outcome = t->outcome;
		if (target->outcome == EXPOSE_DONE) {
			expose_target_free(target);
		} else if (t->cast) {
			size_t bytes = t->cast->guide.count * sizeof(struct sched_turn);

			if (a->kept + bytes > TURNS_BYTES_MAX)
				profile_free(&t->cast->guide);
			else
				a->kept += bytes;
			target->cast = t->cast;
			t->cast = NULL;
		}
		cast_free(t->cast);
	}
}

/* --- which runs to make --- */

/*
 * The next try of a root; false: there is none. First a run that wanders, since that also shows most by
 * the way; then the orders of its events and of priorities, then casts, if there are any.
 */
static bool plan_try(const struct expose *a, struct expose_target *t, struct try *out)
{
	const struct search_memory *memory = a->config.memory;
	unsigned n = t->runs, plain = active_ways(t->iroot.idiom) == 1 ? 3 : 5;

	if (t->iroot.idiom < 1 || t->iroot.idiom > IROOT_IDIOMS)
		t->outcome = EXPOSE_IMPOSSIBLE;
	/* With more memory known to be shared, its steps count otherwise. */
	if (t->cast && memory && t->cast->guide.known != memory->count)
		expose_target_free(t);
	if (t->outcome == EXPOSE_DONE || t->outcome == EXPOSE_IMPOSSIBLE)
		return false;
	*out = (struct try){ .target = t, .number = n + 2, .way = n, .permille = RANDOM_PERMILLE };
	if (n == 0)
		return true;
	if (n < plain) {
		out->number = (n - 1) % 2;
		out->way = (n - 1) ^ (n - 1) >> 1;
		out->permille = 0;
	} else if (t->cast && t->cast->next < t->cast->count) {
		out->parts = t->cast->parts[t->cast->next++];
	} else if (t->outcome == EXPOSE_MISSED) {
		return false;	/* nobody was seen that could play it */
	}
	return true;
}

static int by_order(const void *a, const void *b)
{
	const struct expose_target *x = *(struct expose_target *const *)a;
	const struct expose_target *y = *(struct expose_target *const *)b;

	if (x->iroot.idiom != y->iroot.idiom)
		return x->iroot.idiom < y->iroot.idiom ? -1 : 1;
	if (x->library != y->library)
		return x->library ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* What is left of the budget for the tries of a pass; false: nothing. */
static bool budget(struct expose *a, struct search_budget *out)
{
	const struct search_budget *all = &a->config.budget;
	const struct search_stats *stats = a->config.stats;
	uint64_t made = stats->runs - a->runs, left = all->runs > made ? all->runs - made : 0;

	*out = *all;
	out->runs = a->most = all->runs && left < a->try_count ? left : a->try_count;
	out->seconds = all->seconds > 0 ? all->seconds - (stats->seconds - a->seconds) : 0;
	return out->runs > 0 && (all->seconds <= 0 || out->seconds > 0) && !(all->stop && *all->stop);
}

static size_t plan_size(const struct expose *a)
{
	size_t most = 0;

	for (uint64_t i = 0; i < a->try_count; i++) {
		const struct expose_assignments *c = a->tried[i].target->cast;

		if (c && c->guide.turns && c->guide.count > most)
			most = c->guide.count;
	}
	return sizeof(struct sched_plan) + most * sizeof(struct sched_turn) + sizeof(struct sched_wanted);
}

/* Plans the next pass; false: there is none. */
static bool plan_pass(struct expose *a)
{
	for (a->try_count = 0; !a->try_count && a->level < a->tries;) {
		for (; a->at < a->count && a->try_count < PASS_RUNS; a->at++)
			a->try_count += a->order[a->at]->runs == a->level &&
					plan_try(a, a->order[a->at], &a->tried[a->try_count]);
		if (a->at == a->count && !a->try_count) {
			a->level++;
			a->at = 0;
		}
	}
	return a->try_count > 0;
}

/* 1: a pass has begun; 0: nothing is left to do; -1: the program cannot be run. */
static int begin_pass(struct expose *a, struct err *err)
{
	struct search_config config = a->config;
	size_t size;

	if (a->over || !plan_pass(a) || !budget(a, &config.budget))
		return 0;
	config.plan.strategy = strategy_find("active");
	size = plan_size(a);
	if (config.program.server.plan_size < size)
		config.program.server.plan_size = size;
	a->search = search_open(&config, err);
	return a->search ? 1 : -1;
}

static void end_pass(struct expose *a)
{
	volatile sig_atomic_t *stop = a->config.budget.stop;

	a->over |= search_had_enough(a->search);
	search_close(a->search);
	a->search = NULL;
	settle(a);
	a->over |= a->most < a->try_count || (stop && *stop) || !a->tried[a->try_count - 1].ended;
}

int expose_next(struct expose *a, struct search_run *run, struct err *err)
{
	for (;;) {
		int event = a->search ? 1 : begin_pass(a, err);

		if (event <= 0)
			return event;
		event = search_next(a->search, run, err);
		if (event == SEARCH_BEGIN)
			begin(a, run);
		else if (event == SEARCH_ENDED)
			note(a, run);
		if (event > 0)
			return event;
		end_pass(a);
		if (event < 0)
			return -1;
	}
}

struct expose *expose_open(const struct search_config *config, unsigned tries,
			   struct expose_target *targets, size_t count)
{
	struct expose *a = xcalloc(1, sizeof(*a));

	a->config = *config;
	a->tries = tries;
	a->runs = config->stats->runs;
	a->seconds = config->stats->seconds;
	a->tried = xcalloc(PASS_RUNS, sizeof(*a->tried));
	a->order = xcalloc(count + 1, sizeof(*a->order));
	for (a->count = 0; a->count < count; a->count++)
		a->order[a->count] = &targets[a->count];
	if (count > 1)
		qsort(a->order, count, sizeof(*a->order), by_order);
	return a;
}

void expose_close(struct expose *a)
{
	if (a->search)
		end_pass(a);
	free(a->tried);
	free(a->order);
	free(a);
}

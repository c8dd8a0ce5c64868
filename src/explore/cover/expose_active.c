#include "explore/cover/expose_active.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/mix.h"
#include "base/mem.h"

#define ASSIGNMENTS_MAX 16u	/* assignments kept for a root: more than EXPOSE_TRIES can use */
#define TURNS_BYTES_MAX (64u << 20)	/* most memory for the turns of all targets */
#define RANDOM_PERMILLE 900u	/* first try: share of random steps before the first event */
/* Runs of a pass. Roots that they happened to expose need no runs in the next pass. */
#define PASS_RUNS 32u

/* The assignments of a root that one run has shown, and the turns of that run. */
struct expose_assignments {
	struct expose_assignment parts[ASSIGNMENTS_MAX];
	size_t count;		/* of `parts` */
	size_t next;		/* index of the first one that was not tried */
	struct profile guide;	/* turns NULL: TURNS_BYTES_MAX was reached */
};

/* One run of a pass. */
struct try {
	struct expose_target *target;
	struct expose_assignment parts;	/* thread 0: no assignment */
	uint64_t number;	/* ctl_request.run: selects the priorities of the threads */
	uint64_t way;		/* sched_wanted.way */
	uint32_t permille;
	/* Result. */
	enum expose_outcome outcome;
	bool failed;		/* the run exposed the root, and failed */
	bool ended;
	struct expose_assignments *assignments;	/* shown by this run; NULL: none */
};

struct expose {
	struct search_config config;
	unsigned tries;		/* most runs for a target */
	struct expose_target **order;	/* targets in the order in which they are tried */
	size_t count;		/* of `order` */
	uint64_t runs;		/* config.stats->runs at expose_open() */
	size_t turn_bytes;	/* memory for the turns of all targets */
	bool over;		/* no pass follows */
	/* The current pass: a search, each run of which is a try of another target. */
	unsigned level;		/* number of runs that its targets had before */
	size_t next_target;	/* index in `order` from which the next pass of this level takes */
	struct try *pass;	/* by number of the run in the search */
	uint64_t pass_count;	/* of `pass` */
	uint64_t most;		/* number of these runs that the budget allows */
	struct search *search;	/* NULL: between passes */
};

static void assignments_free(struct expose_assignments *c)
{
	if (c)
		profile_free(&c->guide);
	free(c);
}

struct expose_target expose_target_of(const struct iroot *iroot, const struct places *places)
{
	struct expose_target t = { .iroot = *iroot };

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		t.library |=
			iroot->event[i].site && !places_in_program(places, iroot->event[i].site);
	return t;
}

void expose_target_free(struct expose_target *t)
{
	assignments_free(t->assignments);
	t->assignments = NULL;
}

/* The seed of a target's runs, independent of the other targets. */
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
	const struct try *t = &a->pass[run->number];
	const struct profile *guide =
		t->parts.part[0].thread ? &t->target->assignments->guide : NULL;
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

/* The assignments that a run shows, with its turns; NULL: none. */
static struct expose_assignments *assignments_of_run(const struct expose *a, const struct try *t,
						     const struct server *s, const void *state)
{
	const struct active_visit *seen[IROOT_EVENTS];
	uint32_t count[IROOT_EVENTS];
	struct expose_assignments *c = xcalloc(1, sizeof(*c));

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		count[i] = active_visits(state, i, &seen[i]);
	c->count = expose_assign(&t->target->iroot, seen, count, seed_of(a, &t->target->iroot),
				 c->parts, ASSIGNMENTS_MAX);
	if (!c->count) {
		free(c);
		return NULL;
	}
	c->guide.turns = profile_turns(s->block, &c->guide.count);
	c->guide.known = s->block->request.shared_count;
	return c;
}

static void note_run(const struct expose *a, const struct search_run *run)
{
	const struct server *s = run->server;
	struct try *t = &a->pass[run->number];
	const void *state = (const char *)s->block + s->block->state;
	const struct iroot_shape *shape = &iroot_shapes[t->target->iroot.idiom];
	struct active_result r;

	t->ended = true;
	if (run->result->verdict == ORACLE_DAMAGED) {
		t->outcome = EXPOSE_UNREACHED;
		return;
	}
	active_result(state, &r);
	t->failed = r.exposed && run->result->verdict == ORACLE_FAILED;
	t->outcome = r.exposed ? EXPOSE_DONE : r.possible ? EXPOSE_MISSED : EXPOSE_IMPOSSIBLE;
	for (unsigned i = 0; t->outcome == EXPOSE_MISSED && i < shape->events; i++)
		if (!r.reached[i])
			t->outcome = EXPOSE_UNREACHED;
	if (!r.exposed && !t->target->assignments && s->block->report.outcome != CTL_RUNNING)
		t->assignments = assignments_of_run(a, t, s, state);
}

static void take_outcomes(struct expose *a)
{
	for (uint64_t i = 0; i < a->pass_count; i++) {
		struct try *t = &a->pass[i];
		struct expose_target *target = t->target;

		if (!t->ended)
			continue;
		target->runs++;
		target->failed |= t->failed;
		if (t->outcome > target->outcome)
			target->outcome = t->outcome;
		if (target->outcome == EXPOSE_DONE) {
			expose_target_free(target);
		} else if (t->assignments) {
			size_t bytes = t->assignments->guide.count * sizeof(struct sched_turn);

			if (a->turn_bytes + bytes > TURNS_BYTES_MAX)
				profile_free(&t->assignments->guide);
			else
				a->turn_bytes += bytes;
			target->assignments = t->assignments;
			t->assignments = NULL;
		}
		assignments_free(t->assignments);
	}
}

/* --- which runs to make --- */

/*
 * Plans the next try of a root. False: there is none. The first try makes random steps before the
 * first event, since that also exposes most other roots. Then come tries with the orders of events
 * and priorities, then one for each assignment. Without assignments, random tries follow until a
 * run has reached all events.
 */
static bool plan_try(const struct expose *a, struct expose_target *t, struct try *out)
{
	const struct search_memory *memory = a->config.memory;
	unsigned n = t->runs, plain = active_ways(t->iroot.idiom) == 1 ? 3 : 5;

	if (t->iroot.idiom < 1 || t->iroot.idiom > IROOT_IDIOMS)
		t->outcome = EXPOSE_IMPOSSIBLE;
	/* More granules are known to be shared since then: the steps of its turns do not hold. */
	if (t->assignments && memory && t->assignments->guide.known != memory->count)
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
	} else if (t->assignments && t->assignments->next < t->assignments->count) {
		out->parts = t->assignments->parts[t->assignments->next++];
	} else if (t->outcome == EXPOSE_MISSED) {
		return false;	/* no run has shown an assignment, or all were tried */
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

/* The rest of the budget, for the tries of a pass. False: it is spent, or the user stopped. */
static bool budget(struct expose *a, struct search_budget *out)
{
	const struct search_budget *all = &a->config.budget;
	const struct search_stats *stats = a->config.stats;
	uint64_t made = stats->runs - a->runs, left = all->runs > made ? all->runs - made : 0;

	*out = *all;
	out->runs = a->most = all->runs && left < a->pass_count ? left : a->pass_count;
	return out->runs > 0 && !deadline_over(&all->deadline);
}

static size_t plan_size(const struct expose *a)
{
	size_t most = 0;

	for (uint64_t i = 0; i < a->pass_count; i++) {
		const struct expose_assignments *c = a->pass[i].target->assignments;

		if (c && c->guide.turns && c->guide.count > most)
			most = c->guide.count;
	}
	return sizeof(struct sched_plan) + most * sizeof(struct sched_turn) +
	       sizeof(struct sched_wanted);
}

/* Plans the tries of the next pass. False: there is none. */
static bool plan_pass(struct expose *a)
{
	for (a->pass_count = 0; !a->pass_count && a->level < a->tries;) {
		for (; a->next_target < a->count && a->pass_count < PASS_RUNS; a->next_target++)
			a->pass_count +=
				a->order[a->next_target]->runs == a->level &&
				plan_try(a, a->order[a->next_target], &a->pass[a->pass_count]);
		if (a->next_target == a->count && !a->pass_count) {
			a->level++;
			a->next_target = 0;
		}
	}
	return a->pass_count > 0;
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
	a->over |= search_had_enough(a->search);
	search_close(a->search);
	a->search = NULL;
	take_outcomes(a);
	a->over |= a->most < a->pass_count || deadline_over(&a->config.budget.deadline) ||
		   !a->pass[a->pass_count - 1].ended;
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
			note_run(a, run);
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
	a->pass = xcalloc(PASS_RUNS, sizeof(*a->pass));
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
	free(a->pass);
	free(a->order);
	free(a);
}

#include "explore/cover/expose_active.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/mix.h"
#include "base/mem.h"

#define CASTS 16u		/* choices of who plays that are kept of a root */
#define TURNS_MOST (64u << 20)	/* turns kept for all of them, bytes */
#define WANDER 900u		/* permille of steps by chance before the first event */
#define PASS 32u		/* runs before it is looked at what they exposed by the way */

/* Who may play, and the run that showed it. */
struct active_cast {
	struct active_parts parts[CASTS];
	size_t count, next;
	struct profile guide;	/* without turns: there was no room */
};

/* One run of a pass. */
struct try {
	struct active_target *target;
	struct active_parts parts;	/* thread 0: nobody is cast */
	uint64_t number, way;
	uint32_t permille;
	/* What came of it. */
	enum active_outcome outcome;
	bool failed, ended;
	struct active_cast *cast;
};

struct active_batch {
	const struct active_config *config;
	struct try *tries;
	uint64_t count;
	size_t kept;		/* bytes of turns */
	bool over;
};

static void cast_free(struct active_cast *c)
{
	if (c)
		profile_free(&c->guide);
	free(c);
}

struct active_target active_target_of(const struct iroot *iroot, const struct places *places)
{
	struct active_target t = { .iroot = *iroot };

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		t.library |= iroot->event[i].site && !places_in_program(places, iroot->event[i].site);
	return t;
}

void active_target_free(struct active_target *t)
{
	cast_free(t->cast);
	t->cast = NULL;
}

/* Its own, whatever other targets there are. */
static uint64_t seed_of(const struct active_config *c, const struct iroot *r)
{
	uint64_t h = mix_add(c->search.seed, r->idiom);

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		h = mix_add(mix_add(h, r->event[i].site), r->event[i].access);
	return h;
}

/* --- a run --- */

static void shape(void *ctx, uint64_t run, struct server *s)
{
	const struct active_batch *b = ctx;
	const struct try *t = &b->tries[run];
	const struct profile *guide = t->parts.part[0].thread ? &t->target->cast->guide : NULL;
	struct ctl_request *q = server_request(s);
	struct sched_plan *plan = server_area(s, s->block->plan);
	struct sched_turn *turns = (struct sched_turn *)(plan + 1);
	struct sched_wanted *wanted;

	snprintf(q->strategy, sizeof(q->strategy), "active");
	q->seed = seed_of(b->config, &t->target->iroot);
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
static struct active_cast *learn(struct active_batch *b, const struct try *t, const struct server *s,
				 const void *state)
{
	const struct active_seen *seen[IROOT_EVENTS];
	uint32_t count[IROOT_EVENTS];
	struct active_cast *c = xcalloc(1, sizeof(*c));

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		count[i] = active_seen(state, i, &seen[i]);
	c->count = active_casting(&t->target->iroot, seen, count, seed_of(b->config, &t->target->iroot),
				  c->parts, CASTS);
	if (!c->count) {
		free(c);
		return NULL;
	}
	c->guide.turns = profile_turns(s->block, &c->guide.count);
	c->guide.known = s->block->request.shared_count;
	return c;
}

static void note(void *ctx, uint64_t run, const struct server *s, const struct oracle_result *result)
{
	struct active_batch *b = ctx;
	const struct search_config *c = &b->config->search;
	struct try *t = &b->tries[run];
	const void *state = (const char *)s->block + s->block->state;
	const struct iroot_shape *shape = &iroot_shapes[t->target->iroot.idiom];
	struct active_result r;

	active_result(state, &r);
	t->ended = true;
	t->failed = r.exposed && result->verdict == ORACLE_FAILED;
	t->outcome = r.exposed ? ACTIVE_EXPOSED : r.possible ? ACTIVE_MISSED : ACTIVE_IMPOSSIBLE;
	for (unsigned i = 0; t->outcome == ACTIVE_MISSED && i < shape->events; i++)
		if (!r.reached[i])
			t->outcome = ACTIVE_UNREACHED;
	if (!r.exposed && !t->target->cast && s->block->report.outcome != CTL_RUNNING)
		t->cast = learn(b, t, s, state);
	if (c->judged)
		c->judged(c->ctx, run, s, result);
}

static void settle(struct active_batch *b)
{
	for (uint64_t i = 0; i < b->count; i++) {
		struct try *t = &b->tries[i];
		struct active_target *target = t->target;

		if (!t->ended)
			continue;
		target->runs++;
		target->failed |= t->failed;
		if (t->outcome > target->outcome)
			target->outcome = t->outcome;
		if (target->outcome == ACTIVE_EXPOSED) {
			active_target_free(target);
		} else if (t->cast) {
			size_t bytes = t->cast->guide.count * sizeof(struct sched_turn);

			if (b->kept + bytes > TURNS_MOST)
				profile_free(&t->cast->guide);
			else
				b->kept += bytes;
			target->cast = t->cast;
			t->cast = NULL;
		}
		cast_free(t->cast);
	}
}

/* --- the hooks of who asked --- */

static enum search_answer on_found(void *ctx, struct search_failure *f)
{
	struct active_batch *b = ctx;
	enum search_answer answer = b->config->search.found(b->config->search.ctx, f);

	b->over |= answer == SEARCH_ENOUGH;
	return answer;
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	const struct active_batch *b = ctx;

	b->config->search.progress(b->config->search.ctx, stats);
}

/* --- which runs to make --- */

/*
 * The next try of a root; false: there is none. First a run that wanders, since that also shows most by
 * the way; then the orders of its events and of priorities, then casts, if there are any.
 */
static bool plan_try(const struct active_config *c, struct active_target *t, struct try *out)
{
	unsigned n = t->runs, plain = active_ways(t->iroot.idiom) == 1 ? 3 : 5;

	if (t->iroot.idiom < 1 || t->iroot.idiom > IROOT_IDIOMS)
		t->outcome = ACTIVE_IMPOSSIBLE;
	/* With more memory known to be shared, its steps count otherwise. */
	if (t->cast && c->search.memory && t->cast->guide.known != c->search.memory->count)
		active_target_free(t);
	if (t->outcome == ACTIVE_EXPOSED || t->outcome == ACTIVE_IMPOSSIBLE)
		return false;
	*out = (struct try){ .target = t, .number = n + 2, .way = n, .permille = WANDER };
	if (n == 0)
		return true;
	if (n < plain) {
		out->number = (n - 1) % 2;
		out->way = (n - 1) ^ (n - 1) >> 1;
		out->permille = 0;
	} else if (t->cast && t->cast->next < t->cast->count) {
		out->parts = t->cast->parts[t->cast->next++];
	} else if (t->outcome == ACTIVE_MISSED) {
		return false;	/* nobody was seen that could play it */
	}
	return true;
}

static int by_order(const void *a, const void *b)
{
	const struct active_target *x = *(struct active_target *const *)a;
	const struct active_target *y = *(struct active_target *const *)b;

	if (x->iroot.idiom != y->iroot.idiom)
		return x->iroot.idiom < y->iroot.idiom ? -1 : 1;
	if (x->library != y->library)
		return x->library ? 1 : -1;
	return x < y ? -1 : x > y;
}

static bool begin_pass(const struct active_batch *b, const struct search_stats *stats, uint64_t runs,
		       double seconds, struct search_config *out)
{
	const struct search_config *c = &b->config->search;
	uint64_t made = stats->runs - runs, left = c->runs > made ? c->runs - made : 0;

	*out = *c;
	out->strategy = strategy_find("active");
	out->shape = shape;
	out->judged = note;
	out->found = on_found;
	out->progress = c->progress ? on_progress : NULL;
	out->cause = NULL;
	out->from = NULL;
	out->ctx = (void *)(uintptr_t)b;
	out->runs = b->count;
	if (c->runs && left < out->runs)
		out->runs = left;
	out->seconds = c->seconds > 0 ? c->seconds - (stats->seconds - seconds) : 0;
	return out->runs > 0 && (c->seconds <= 0 || out->seconds > 0) && !(c->stop && *c->stop);
}

static int pass(struct active_batch *b, struct places *places, struct search_stats *stats,
		uint64_t runs, double seconds, struct err *err)
{
	struct search_config config;
	size_t most = 0, plan_size;
	int result;

	for (uint64_t i = 0; i < b->count; i++) {
		const struct active_cast *c = b->tries[i].target->cast;

		if (c && c->guide.turns && c->guide.count > most)
			most = c->guide.count;
	}
	if (!begin_pass(b, stats, runs, seconds, &config)) {
		b->over = true;
		return 0;
	}
	plan_size = sizeof(struct sched_plan) + most * sizeof(struct sched_turn) + sizeof(struct sched_wanted);
	if (config.server.plan_size < plan_size)
		config.server.plan_size = plan_size;
	result = search_run(&config, places, stats, err);
	settle(b);
	b->over |= config.runs < b->count || (config.stop && *config.stop) || !b->tries[b->count - 1].ended;
	return result;
}

int active_try(const struct active_config *config, struct active_target *targets, size_t count,
	       struct places *places, struct search_stats *stats, struct err *err)
{
	struct active_target **order = xcalloc(count + 1, sizeof(*order));
	struct active_batch b = { .config = config, .tries = xcalloc(PASS, sizeof(*b.tries)) };
	unsigned tries = config->tries ? config->tries : ACTIVE_TRIES;
	uint64_t runs = stats->runs;
	double seconds = stats->seconds;
	int result = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = &targets[i];
	if (count > 1)
		qsort(order, count, sizeof(*order), by_order);
	for (unsigned level = 0; level < tries && !b.over && result == 0; level++)
		for (size_t i = 0; i < count && !b.over && result == 0;) {
			for (b.count = 0; i < count && b.count < PASS; i++)
				b.count += order[i]->runs == level &&
					   plan_try(config, order[i], &b.tries[b.count]);
			if (b.count)
				result = pass(&b, places, stats, runs, seconds, err);
		}
	free(b.tries);
	free(order);
	return result;
}

#include "explore/fix/fix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "explore/lead/lead_run.h"
#include "explore/search/observe.h"
#include "explore/target/leftovers.h"
#include "trace/read/kinds.h"

/* Most times that the runs to record are repeated while they find new shared granules. */
#define TRACE_PASSES 4u
#define SHARE 0.6		/* part of the budget for known interleavings; the rest is a hunt */
#define WEAK_RUNS 300u		/* runs by a strategy for an interleaving without goals */

struct checkfix {
	const struct checkfix_config *config;
	struct places *places;
	struct search_stats *stats;
	struct search_memory memory;
	double began;
};

/* Runs that try one known interleaving. */
struct trial {
	struct checkfix *cf;
	struct checkfix_known *known;
	size_t ways;		/* number of its mappings; 0: runs by a strategy */
	uint8_t *outcomes;	/* enum lead_outcome of each run */
	uint64_t from;		/* number of the first run of the search */
	bool found;		/* a run failed in the wanted order */
	bool proved;		/* replays of it failed, too */
	uint64_t last;		/* number of the last run that counts for the verdict */
};

static const struct {
	const char *name, *words;
} verdicts[] = {
	[CHECKFIX_UNTRIED] = { "untried", "not tried: the budget is used up" },
	[CHECKFIX_GONE] = { "gone", "no longer there" },
	[CHECKFIX_UNREACHED] = { "unreached", "not reached: nothing is known" },
	[CHECKFIX_IMPOSSIBLE] = { "impossible", "no longer possible" },
	[CHECKFIX_HARMLESS] = { "harmless", "possible but harmless" },
	[CHECKFIX_UNSEEN] = { "unseen", "not seen again" },
	[CHECKFIX_UNPROVED] = { "unproved", "a run failed, but its replay did not" },
	[CHECKFIX_LEFT] = { "left", "no longer there, but the same accesses elsewhere still fail" },
	[CHECKFIX_FAILS] = { "fails", "still fails" },
};

const char *checkfix_name(enum checkfix_verdict verdict)
{
	return verdicts[verdict].name;
}

const char *checkfix_words(enum checkfix_verdict verdict)
{
	return verdicts[verdict].words;
}

void checkfix_known_free(struct checkfix_known *k)
{
	remap_free(k->remap);
	schedule_free(&k->schedule);
	free(k->name);
	free(k->path);
}

static void goals_text(const struct schedule *s, struct buf *out)
{
	struct schedule only = { .goals = s->goals, .goal_count = s->goal_count };

	schedule_text(&only, out);
}

bool checkfix_same_goals(const struct schedule *a, const struct schedule *b)
{
	struct buf x = { 0 }, y = { 0 };
	bool same;

	goals_text(a, &x);
	goals_text(b, &y);
	same = strcmp(buf_string(&x), buf_string(&y)) == 0;
	buf_free(&x);
	buf_free(&y);
	return same;
}

/*
 * True if event `e` of a goal accesses `object`. A lock that it acquires counts only if the cause
 * is a deadlock: otherwise it is just the point where a thread waits.
 */
static bool is_about(const struct schedule *s, const struct schedule_event *e, const char *object)
{
	bool lock = e->op && trace_roles((unsigned)kind_find(e->op, strlen(e->op))) & ROLE_ACQUIRE;

	if (lock && s->cause && strcmp(s->cause, "deadlock") != 0)
		return false;
	return e->object && remap_same_object(e->object, object) >= 0;
}

static bool concerns(const struct schedule *s, const char *object)
{
	if (!s->goal_count)
		return true;	/* its objects are unknown */
	if (s->variable && remap_same_object(s->variable, object) >= 0)
		return true;
	for (size_t i = 0; i < s->goal_count; i++)
		if (is_about(s, &s->goals[i].first, object) ||
		    is_about(s, &s->goals[i].second, object))
			return true;
	return false;
}

bool checkfix_concerns(const struct checkfix_known *known, size_t count, const struct lead *lead)
{
	uint8_t events[CANDIDATE_EVENTS];
	size_t event_count = lead_events(lead, events);

	for (size_t i = 0; i < event_count; i++)
		for (size_t k = 0; k < count; k++)
			if (concerns(&known[k].schedule, lead->event[events[i]].object))
				return true;
	return false;
}

static bool is_over(const struct checkfix *cf)
{
	const struct search_budget *b = &cf->config->search.budget;

	return (b->runs && cf->stats->runs >= b->runs) || deadline_over(&b->deadline);
}

static void report_other(struct checkfix *cf, struct search_failure *f)
{
	cf->config->kept(cf->config->ctx, f);
}

/* Makes all runs to be recorded once. Returns how many traces there are. */
static unsigned make_traces(struct checkfix *cf, const char *folder, struct err *err)
{
	const struct checkfix_config *c = cf->config;
	struct search_config config = c->search;
	unsigned traces = 0;

	config.memory = &cf->memory;
	for (unsigned i = 0; i < c->profiles && !is_over(cf); i++) {
		char *path = xasprintf("%s/%u", folder, i);
		struct profile_order order = { .run = i, .path = path };
		struct search_failure *failure = NULL;

		unlink(path);
		if (profile_trace(&config, &order, &failure, NULL, err) == 0)
			traces += !failure;
		if (failure) {
			oracle_refine(&failure->result, failure->report, cf->places);
			report_other(cf, failure);
		}
		free(path);
		if (c->progress)
			c->progress(c->ctx, cf->stats);
	}
	return traces;
}

static void remap_all(struct checkfix *cf, const char *folder, struct checkfix_known *known,
		      size_t count)
{
	struct remap **remaps = xcalloc(count + 1, sizeof(*remaps));
	size_t used = 0;
	struct err err;

	for (size_t i = 0; i < count; i++) {
		known[i].remap = remap_new(&known[i].schedule);
		if (known[i].remap)
			remaps[used++] = known[i].remap;
	}
	for (unsigned i = 0; i < cf->config->profiles; i++) {
		char *path = xasprintf("%s/%u", folder, i);

		if (access(path, F_OK) == 0)
			remap_read(remaps, used, path, cf->places, &err);
		unlink(path);
		free(path);
	}
	free(remaps);
}

/* Records runs of the new build, and maps the goals of all known interleavings to them. */
static int trace_new_build(struct checkfix *cf, struct checkfix_known *known, size_t count,
			   struct err *err)
{
	char *folder = leftovers_template("check");
	unsigned traces = 0;

	if (!mkdtemp(folder)) {
		err_set(err, "cannot make the folder %s for traces: %s", folder, strerror(errno));
		free(folder);
		return -1;
	}
	for (unsigned pass = 0; pass < TRACE_PASSES; pass++) {
		size_t shared = cf->memory.count;

		traces = make_traces(cf, folder, err);
		if (!traces || cf->memory.count == shared)
			break;
	}
	remap_all(cf, folder, known, count);
	rmdir(folder);
	free(folder);
	/* Runs that all failed are a result, too. No run at all is an error. */
	return cf->stats->runs ? 0 : -1;
}

static const struct lead *lead_of_run(const struct trial *t, uint64_t run)
{
	return t->known->remap->mappings[run % t->ways].lead;
}

static void begin(const struct trial *t, const struct search_run *run)
{
	uint64_t number = t->from + run->number;

	server_request(run->server)->run = number;
	follow_shape(lead_of_run(t, number), number / t->ways, run->server);
}

/*
 * True if a failing run did not complete the orders of an extrapolated mapping, and is no deadlock:
 * its events may not even exist, so that the failure says nothing about the order.
 */
static bool misses_order(const struct trial *t, uint64_t number, const struct search_run *run)
{
	const struct server *s = run->server;
	struct goal_result goal;

	goal_result((const char *)s->block + s->block->state, &goal);
	return t->known->remap->mappings[number % t->ways].extrapolated && goal.met < goal.orders &&
	       !oracle_is_stuck(run->result->failure);
}

static void note(struct trial *t, const struct search_run *run)
{
	uint64_t number = t->from + run->number;
	enum lead_outcome outcome =
		follow_outcome(lead_of_run(t, number), run->server, run->result);

	if (outcome == LEAD_FAILED && misses_order(t, number, run))
		outcome = LEAD_UNREACHED;
	t->outcomes[number] = outcome;
}

static enum search_answer prove(struct trial *t, struct search_failure *f)
{
	const struct checkfix_config *c = t->cf->config;
	uint64_t run = t->from + f->schedule.run;

	if (t->ways && t->outcomes[run] != LEAD_FAILED) {
		report_other(t->cf, f);
		return SEARCH_MORE;
	}
	if (t->ways) {
		f->lead = lead_of_run(t, run);
		lead_goals(f->lead, t->cf->places, &f->schedule);
	}
	t->found = true;
	t->known->failure = c->prove(c->ctx, f);
	t->proved = t->known->failure >= 0;
	if (t->proved)
		t->last = run;
	return t->proved ? SEARCH_ENOUGH : SEARCH_MORE;
}

/* Makes runs for the mappings if there are any, else by the strategy of `config`. */
static int search(struct trial *t, const struct search_config *config, struct err *err)
{
	const struct checkfix_config *c = t->cf->config;
	struct search *s = search_open(config, err);
	struct search_run run;
	int event;

	while ((event = search_next(s, &run, err)) > 0) {
		if (event == SEARCH_BEGIN && t->ways)
			begin(t, &run);
		else if (event == SEARCH_ENDED && t->ways)
			note(t, &run);
		else if (event == SEARCH_FAILED)
			search_answer(s, prove(t, run.failure));
		else if (event == SEARCH_INCONCLUSIVE && c->inconclusive)
			c->inconclusive(c->ctx, run.failure);
		else if (event == SEARCH_PROGRESS && c->progress)
			c->progress(c->ctx, t->cf->stats);
	}
	search_close(s);
	return event;
}

/* Lets the next search report failures that an earlier one has reported. */
static void forget_failures(struct checkfix *cf)
{
	map_free(&cf->memory.identities);
	cf->memory.identities = (struct map){ 0 };
}

/* Configures a search of `wanted` runs. `left`: number of known interleavings not tried yet. */
static void prepare(struct checkfix *cf, struct trial *t, size_t left, uint64_t wanted,
		    struct search_config *out)
{
	const struct search_budget *all = &cf->config->search.budget;
	struct search_budget *budget = &out->budget;

	*out = cf->config->search;
	out->memory = &cf->memory;
	out->plan.keep_going = true;
	out->plan.strategy = strategy_find("random");
	out->plan.flags |= t->known->schedule.flags;
	out->program.oracle = &t->known->oracle;
	budget->runs = wanted;
	if (all->runs) {
		uint64_t most =
			(uint64_t)((double)(all->runs - cf->stats->runs) * SHARE / (double)left) +
			1;

		budget->runs = wanted < most ? wanted : most;
	}
	budget->deadline = deadline_share(&all->deadline, SHARE / (double)left);
	forget_failures(cf);
	t->last = budget->runs - 1;
}

/* Outcomes of the runs for observed mappings, or for extrapolated ones. */
struct tally {
	enum lead_outcome best;
	uint64_t tries, came_about;	/* number of runs, and of those that had the order */
};

static void count_outcomes(const struct trial *t, struct tally *seen, struct tally *extrapolated)
{
	for (uint64_t i = 0; i <= t->last; i++) {
		struct tally *to =
			t->known->remap->mappings[i % t->ways].extrapolated ? extrapolated : seen;

		to->tries += t->outcomes[i] != LEAD_UNTRIED;
		to->came_about += t->outcomes[i] >= LEAD_HARMLESS;
		to->best = t->outcomes[i] > to->best ? t->outcomes[i] : to->best;
	}
}

static enum checkfix_verdict verdict_of(enum lead_outcome best, bool proved, bool gone)
{
	if (best == LEAD_FAILED)
		return !proved ? CHECKFIX_UNPROVED : gone ? CHECKFIX_LEFT : CHECKFIX_FAILS;
	if (best == LEAD_UNTRIED)
		return CHECKFIX_UNTRIED;
	if (gone)
		return CHECKFIX_GONE;
	return best == LEAD_HARMLESS ? CHECKFIX_HARMLESS :
	       best == LEAD_INFEASIBLE ? CHECKFIX_IMPOSSIBLE : CHECKFIX_UNREACHED;
}

/*
 * Sets the verdict from the observed mappings, or from the extrapolated ones if a run for these
 * failed, or if there is nothing better: no observed mapping, or only one to other functions.
 */
static void set_verdict(const struct trial *t)
{
	const struct remap_mapping *first = &t->known->remap->mappings[0];
	struct tally seen = { 0 }, extrapolated = { 0 }, *used = &seen;
	struct checkfix_known *k = t->known;
	bool moved = !first->extrapolated && first->level == REMAP_MOVED;

	count_outcomes(t, &seen, &extrapolated);
	if (seen.best != LEAD_FAILED && (first->extrapolated || extrapolated.best == LEAD_FAILED ||
					 (moved && extrapolated.best == LEAD_HARMLESS)))
		used = &extrapolated;
	k->level = used == &extrapolated ? REMAP_SAME : first->level;
	k->tries = used->tries;
	k->came = used->came_about;
	k->verdict = verdict_of(used->best, t->proved, k->level == REMAP_MOVED);
}

/*
 * A search reports equal failures once, so a failure in the wanted order may have been dropped as a
 * duplicate of one in another order. Repeats the first such run.
 */
static int find_hidden(struct trial *t, struct search_config *config, struct err *err)
{
	for (uint64_t i = 0; i < config->budget.runs; i++)
		if (t->outcomes[i] == LEAD_FAILED) {
			t->from = i;
			config->budget.runs = 1;
			forget_failures(t->cf);
			return search(t, config, err);
		}
	return 0;
}

/* Tries an interleaving by the mappings of its goals. */
static int try_goals(struct checkfix *cf, struct checkfix_known *k, size_t left, struct err *err)
{
	struct trial t = { .cf = cf, .known = k, .ways = k->remap->fit_count };
	struct search_config config;
	int result;

	if (!t.ways) {
		k->level = REMAP_MOVED;
		k->verdict = CHECKFIX_GONE;
		return 0;
	}
	prepare(cf, &t, left, t.ways * FOLLOW_ROUNDS, &config);
	config.plan.learned = true;
	config.program.server.plan_size = FOLLOW_PLAN_SIZE;
	t.outcomes = xcalloc(config.budget.runs, 1);
	result = search(&t, &config, err);
	if (result == 0 && !t.found)
		result = find_hidden(&t, &config, err);
	set_verdict(&t);
	free(t.outcomes);
	return result;
}

/* Tries an interleaving by the strategy that found it. */
static int try_strategy(struct checkfix *cf, struct checkfix_known *k, size_t left, struct err *err)
{
	struct trial t = { .cf = cf, .known = k };
	const struct strategy *s =
		k->schedule.strategy ? strategy_find(k->schedule.strategy) : NULL;
	uint64_t before = cf->stats->runs;
	struct search_config config;
	int result;

	prepare(cf, &t, left, WEAK_RUNS, &config);
	/* A strategy that needs a plan is of no use here: there is none. */
	if (s && !s->guided) {
		config.plan.strategy = s;
		config.plan.seed = k->schedule.seed;
		config.plan.depth = k->schedule.depth;
	}
	result = search(&t, &config, err);
	k->weak_tries = cf->stats->runs - before;
	k->weak = t.proved;
	if (t.proved)
		k->verdict = CHECKFIX_FAILS;
	else if (t.found)
		k->verdict = CHECKFIX_UNPROVED;
	else if (!k->remap)
		k->verdict = k->weak_tries ? CHECKFIX_UNSEEN : CHECKFIX_UNTRIED;
	return result;
}

/*
 * The goals of an interleaving that was not predicted are only its likely cause. If they do not
 * fail, its strategy is tried, too.
 */
static int try_known(struct checkfix *cf, struct checkfix_known *k, size_t left, struct err *err)
{
	bool predicted = !k->schedule.strategy || strcmp(k->schedule.strategy, "goal") == 0;
	int result = k->remap ? try_goals(cf, k, left, err) : 0;

	if (result < 0 || is_over(cf) || checkfix_is_failure(k->verdict) || (k->remap && predicted))
		return result;
	return try_strategy(cf, k, left, err);
}

int checkfix_run(const struct checkfix_config *config, struct checkfix_known *known, size_t count,
		 struct err *err)
{
	const struct search_program *program = &config->search.program;
	struct checkfix cf = { .config = config,
			       .places = program->places,
			       .stats = config->search.stats,
			       .began = clock_seconds() };
	int result;

	places_add_program(cf.places, program->server.target->program);
	result = trace_new_build(&cf, known, count, err);
	for (size_t i = 0; i < count && result == 0 && !is_over(&cf); i++)
		result = try_known(&cf, &known[i], count - i, err);
	cf.stats->seconds = clock_seconds() - cf.began;
	search_memory_free(&cf.memory);
	return result;
}

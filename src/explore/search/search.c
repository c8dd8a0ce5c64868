#include "explore/search/search.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "explore/target/orphans.h"
#include "sched/chess.h"

#define GENERATION_MOST 256u
#define RESTARTS_MAX 100u	/* of a strategy whose state lives from run to run */
#define STRAYS_SECONDS 1.0
#define PROGRESS_SECONDS 0.1

#define NOTHING 0		/* a step that has no event for the caller */

struct worker {
	struct server server;
	uint64_t run;
	bool busy;
	struct snapshots shots;
	struct snapshots_point point;	/* where its run begins */
	bool on_the_way;	/* it makes another run first to get to that point */
	size_t granules;	/* of the search that are in the block already */
};

/* What search_next() does next. */
enum step {
	STEP_BEGIN,		/* give a run to each idle worker */
	STEP_END,		/* look for runs that have ended */
	STEP_REPORT,		/* no run is under way: report failures, begin a generation */
	STEP_LOOK,		/* progress and stray processes */
	STEP_CHECK,		/* is the search over? */
	STEP_OVER,
};

struct search {
	struct search_config config;
	struct search_stats *stats;
	struct places *places;
	struct worker *workers;
	unsigned count;
	bool goes_on;		/* the strategy's state lives from run to run */
	bool anew;		/* that state is made anew for the next run */
	uint64_t base;		/* such a strategy counts runs from this one */
	unsigned restarts;
	uint64_t next;		/* run to start */
	uint64_t limit;		/* end of the generation */
	uint64_t again;		/* run that was lost and has to be made again; UINT64_MAX: none */
	bool over, stopping;
	/* Where search_next() is, and what the caller was given. */
	enum step step;
	unsigned at;		/* the worker to look at next */
	enum search_event given;
	struct worker *worker;	/* of SEARCH_BEGIN and SEARCH_ENDED */
	struct oracle_result result;
	uint64_t cause;
	enum search_answer answer;
	bool generation_ended;	/* since the last STEP_CHECK */
	/* What is known. */
	struct search_memory *memory, own;
	struct map known;	/* granules */
	uint64_t *fresh;	/* granules found in this generation */
	size_t fresh_count, fresh_capacity;
	uint64_t length, longest_run;	/* of the longest run */
	uint32_t threads;
	uint64_t events[CTL_THREADS];
	uint32_t parent[CTL_THREADS];
	/* Failures of this generation, one per signature, and how many of them were reported. */
	struct search_failure **failures;
	size_t failure_count, failure_capacity, reported;
	uint64_t identity, signature;	/* of the failure that the caller was given */
	bool enough;		/* the caller wants no more failures */
	struct map signatures;	/* of all failures before */
	uint64_t runs_before;	/* of other searches, in the same statistics */
	double seconds_before;
	double began, strays_at, progress_at;
};

static bool interrupted(const struct search *s)
{
	return s->stopping || (s->config.budget.stop && *s->config.budget.stop);
}

/* No further run is begun, but for one that was lost. */
static bool is_spent(const struct search *s)
{
	const struct search_budget *b = &s->config.budget;

	return s->over || interrupted(s) || (b->seconds > 0 && clock_seconds() - s->began >= b->seconds) ||
	       (b->runs && s->next >= b->runs);
}

/* The request of the plan, with what is known by now. */
static void prepare(struct search *s, struct worker *w)
{
	const struct search_plan *c = &s->config.plan;
	struct ctl_block *b = w->server.block;
	struct ctl_request *q = &b->request;
	uint64_t *shared = server_area(&w->server, b->shared);
	uint32_t threads = s->memory->threads < CTL_THREADS ? s->memory->threads : CTL_THREADS;

	snprintf(q->strategy, sizeof(q->strategy), "%s", c->strategy->name);
	q->seed = c->seed;
	q->depth = c->depth;
	q->switch_permille = c->switch_permille;
	q->flags = c->flags | (c->learned ? 0 : CTL_LEARN);
	q->begin_search = !s->goes_on || s->anew;
	q->run = w->run - s->base;
	q->max_steps = c->max_steps;
	q->plan_size = 0;
	if (s->anew) {
		s->anew = false;
		q->run = 0;
	}
	/* What a run found lies behind the known granules, so new knowledge overwrites it. */
	if (s->memory->count > w->granules)
		memcpy(shared + w->granules, s->memory->granules + w->granules,
		       (s->memory->count - w->granules) * sizeof(*shared));
	w->granules = s->memory->count;
	q->shared_count = s->memory->count;
	q->length = s->memory->length;
	q->threads = threads;
	memcpy(q->parent, s->memory->parent, threads * sizeof(*q->parent));
	memcpy(q->events, s->memory->events, threads * sizeof(*q->events));
}

/* Adds the granules that the run found shared and no run before. */
static void learn_shared(struct search *s, struct worker *w)
{
	struct ctl_block *b = w->server.block;
	const uint64_t *shared = server_area(&w->server, b->shared);
	uint64_t most = b->shared_size / sizeof(*shared), count = b->report.shared_new;

	for (uint64_t i = 0; i < count && s->memory->count + i < most; i++) {
		bool added;

		map_put(&s->known, shared[s->memory->count + i], &added);
		if (!added)
			continue;
		s->fresh = xgrow(s->fresh, s->fresh_count, &s->fresh_capacity, sizeof(*s->fresh));
		s->fresh[s->fresh_count++] = shared[s->memory->count + i];
	}
}

static void learn_length(struct search *s, const struct worker *w)
{
	const struct ctl_report *r = &w->server.block->report;
	uint32_t threads = r->threads < CTL_THREADS ? r->threads : CTL_THREADS;

	if (threads > s->stats->threads)
		s->stats->threads = threads;
	/* Of equally long runs the one with the lower number counts, not the one that ended first. */
	if (r->steps < s->length || (r->steps == s->length && w->run > s->longest_run))
		return;
	s->length = r->steps;
	s->longest_run = w->run;
	s->threads = threads;
	memcpy(s->events, r->events, threads * sizeof(*s->events));
	memcpy(s->parent, r->parent, threads * sizeof(*s->parent));
}

/* Failures that look the same are different if their runs were made for different causes. */
static uint64_t with_cause(uint64_t sign, uint64_t cause)
{
	return sign ^ hash_spread(cause);
}

/* Failures of this signature are not reported any more. */
static bool is_settled(const struct search *s, uint64_t signature)
{
	const uint64_t *settled = map_find(&s->signatures, signature);

	return settled && *settled;
}

/* Keeps the failure of the lowest run number for each signature. */
static void add_failure(struct search *s, struct worker *w)
{
	struct oracle_result *result = &s->result;
	struct search_failure **place = NULL;

	s->stats->failed++;
	result->signature = with_cause(result->signature, s->cause);
	if (is_settled(s, result->signature))
		return;
	for (size_t i = 0; i < s->failure_count; i++)
		if (s->failures[i]->result.signature == result->signature)
			place = &s->failures[i];
	if (place && (*place)->schedule.run < w->run)
		return;
	if (place) {
		search_failure_free(*place);
	} else {
		s->failures = xgrow(s->failures, s->failure_count, &s->failure_capacity,
				    sizeof(*s->failures));
		place = &s->failures[s->failure_count++];
	}
	*place = search_failure_new(&w->server, s->memory, s->config.program.oracle, w->run, result);
	(*place)->run = s->runs_before + w->run;
	(*place)->cause = s->cause;
	/* Later runs do not matter any more, unless all failures are wanted. */
	if (!s->config.plan.keep_going && w->run + 1 < s->limit)
		s->limit = w->run + 1;
}

/* Whether the run had more to branch at than the strategy could note: then not all was tried. */
static bool was_truncated(const struct search *s, struct worker *w)
{
	struct chess_status status = { 0 };

	if (strcmp(s->config.plan.strategy->name, "chess") == 0)
		chess_status(server_area(&w->server, w->server.block->state), &status);
	s->stats->truncated |= status.truncated;
	return status.truncated;
}

/* Turns to the next run of a strategy whose state lives from run to run; there may be none. */
static void go_on(struct search *s, struct worker *w)
{
	struct ctl_block *b = w->server.block;

	if (s->fresh_count > 0 && s->restarts < RESTARTS_MAX) {
		s->restarts++;
		s->anew = true;		/* there are more steps than it knew of */
		s->base = w->run + 1;
	} else if (!s->config.plan.strategy->end(server_area(&w->server, b->state))) {
		s->stats->exhausted = !was_truncated(s, w);
		s->over = true;
	}
	s->limit = w->run + 1;
}

/* --- the steps; each returns an event for the caller, NOTHING, or -1 --- */

static int give_begin(struct search *s, struct worker *w, struct search_run *run)
{
	prepare(s, w);
	w->on_the_way = false;
	s->worker = w;
	*run = (struct search_run){ .number = w->run, .server = &w->server };
	return SEARCH_BEGIN;
}

bool search_begin_at(struct search *s, const struct snapshots_point *point)
{
	struct worker *w = s->worker;

	/* When it has arrived, it goes on to where it was sent. */
	if (!w->point.steps)
		w->point = *point;
	w->on_the_way = snapshots_towards(&w->shots, &w->server, &w->point);
	return w->on_the_way;
}

static void note_lost(struct search *s, const struct worker *w)
{
	s->stats->lost++;
	s->again = w->run;
	if (s->goes_on) {
		s->anew = true;
		s->base = w->run;
	}
}

/* The server of a worker has ended a run: the one it was given, or one that leads there. */
static int end_run(struct search *s, struct worker *w, struct search_run *run, struct err *err)
{
	struct search_stats *stats = s->stats;

	w->busy = false;
	if (w->on_the_way) {
		snapshots_arrived(&w->shots, &w->server, &w->point);
		return give_begin(s, w, run);
	}
	if (w->server.result.lost) {
		note_lost(s, w);
		return NOTHING;
	}
	if (oracle_judge(s->config.program.oracle, &w->server, &s->result, err) < 0)
		return -1;
	if (s->result.verdict == ORACLE_BROKEN)
		return err_set(err, "the program cannot be controlled: %.300s", s->result.text);
	stats->runs++;
	stats->steps += w->server.block->report.steps;
	stats->cut += s->result.verdict == ORACLE_CUT;
	stats->interleavings = coverage_add(&s->memory->coverage, w->server.block);
	learn_shared(s, w);
	if (!w->server.result.timed_out)
		learn_length(s, w);
	s->worker = w;
	s->cause = 0;
	*run = (struct search_run){ .number = w->run, .server = &w->server, .result = &s->result };
	return SEARCH_ENDED;
}

/* The number of the next run; false: none may be started now. */
static bool take(struct search *s, uint64_t *run)
{
	if (s->again != UINT64_MAX) {
		*run = s->again;
		s->again = UINT64_MAX;
		return true;
	}
	if (is_spent(s) || s->next >= s->limit)
		return false;
	*run = s->next++;
	return true;
}

static bool any_busy(const struct search *s)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->workers[i].busy)
			return true;
	return false;
}

static void wait_for_any(struct search *s)
{
	struct pollfd polls[64 * SERVER_POLLS];
	size_t count = 0;
	int patience = 100;

	for (unsigned i = 0; i < s->count; i++)
		if (s->workers[i].busy) {
			int ms = server_patience(&s->workers[i].server);

			count += server_polls(&s->workers[i].server, polls + count);
			patience = ms >= 0 && ms < patience ? ms : patience;
		}
	poll(polls, count, patience);
}

static int begin_runs(struct search *s, struct search_run *run)
{
	while (s->at < s->count) {
		struct worker *w = &s->workers[s->at++];

		if (w->busy || !take(s, &w->run))
			continue;
		w->point = (struct snapshots_point){ 0 };
		return give_begin(s, w, run);
	}
	s->at = 0;
	s->step = any_busy(s) ? STEP_END : STEP_REPORT;
	if (s->step == STEP_END)
		wait_for_any(s);
	return NOTHING;
}

static int end_runs(struct search *s, struct search_run *run, struct err *err)
{
	while (s->at < s->count) {
		struct worker *w = &s->workers[s->at++];
		int event;

		if (!w->busy || !server_attend(&w->server))
			continue;
		event = end_run(s, w, run, err);
		if (event != NOTHING)
			return event;
	}
	s->step = STEP_LOOK;
	return NOTHING;
}

static int by_run(const void *a, const void *b)
{
	uint64_t x = (*(struct search_failure *const *)a)->run;
	uint64_t y = (*(struct search_failure *const *)b)->run;

	return x < y ? -1 : x > y;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void settle_signature(struct search *s)
{
	*map_put(&s->signatures, s->signature, NULL) = !search_memory_wants(s->memory, s->identity);
}

/* Failures of different signatures may be the same at a second look, at the sources. */
static bool is_wanted(struct search *s, struct search_failure *f)
{
	s->signature = f->result.signature;
	oracle_refine(&f->result, f->report, s->places);
	s->identity = with_cause(oracle_identity(&f->result, s->places), f->cause);
	return search_memory_wants(s->memory, s->identity);
}

/* The runs of a generation have ended: what they taught holds from now on. */
static void learn_generation(struct search *s)
{
	struct search_memory *m = s->memory;

	if (s->fresh_count > 1)
		qsort(s->fresh, s->fresh_count, sizeof(*s->fresh), by_value);
	for (size_t i = 0; i < s->fresh_count; i++) {
		m->granules = xgrow(m->granules, m->count, &m->capacity, sizeof(*m->granules));
		m->granules[m->count++] = s->fresh[i];
	}
	s->fresh_count = 0;
	s->stats->shared = m->count;
	if (s->length > m->length) {
		m->length = s->length;
		m->threads = s->threads;
		memcpy(m->events, s->events, sizeof(s->events));
		memcpy(m->parent, s->parent, sizeof(s->parent));
	}
	if (s->limit < s->next)
		s->limit = s->next;
	s->limit += s->goes_on || s->limit == 0 ? 1 :
		    s->limit < GENERATION_MOST ? s->limit : GENERATION_MOST;
}

static int report(struct search *s, struct search_run *run)
{
	if (s->reported == 0 && s->failure_count > 1)
		qsort(s->failures, s->failure_count, sizeof(*s->failures), by_run);
	while (s->reported < s->failure_count) {
		struct search_failure *f = s->failures[s->reported];
		bool is_first = s->reported++ == 0;

		if (s->enough || !(is_first || s->config.plan.keep_going)) {
			search_failure_free(f);
			continue;
		}
		if (is_wanted(s, f)) {
			s->stats->failures++;
			s->answer = SEARCH_MORE;
			*run = (struct search_run){ .number = f->schedule.run, .failure = f };
			return SEARCH_FAILED;
		}
		search_failure_free(f);
		settle_signature(s);
	}
	s->failure_count = s->reported = 0;
	s->over |= s->enough;
	learn_generation(s);
	s->generation_ended = true;
	s->step = STEP_LOOK;
	*run = (struct search_run){ .number = s->next };
	return SEARCH_GENERATION;
}

static int look(struct search *s, struct search_run *run)
{
	pid_t keep[64];
	double t = clock_seconds();
	bool progress = t - s->progress_at >= PROGRESS_SECONDS;

	/* Processes that left their group: only when no run is under way that they could belong to. */
	if (t - s->strays_at >= STRAYS_SECONDS && !any_busy(s)) {
		s->strays_at = t;
		for (unsigned i = 0; i < s->count; i++)
			keep[i] = s->workers[i].server.pid;
		strays_end_all(keep, s->count);
	}
	s->step = STEP_CHECK;
	if (!progress)
		return NOTHING;
	s->progress_at = t;
	s->stats->seconds = s->seconds_before + t - s->began;
	*run = (struct search_run){ .number = s->next };
	return SEARCH_PROGRESS;
}

static int check(struct search *s)
{
	bool over = s->generation_ended ? is_spent(s) : interrupted(s);

	s->generation_ended = false;
	s->at = 0;
	s->step = over ? STEP_OVER : STEP_BEGIN;
	return NOTHING;
}

/* Acts on what the caller made of the last event. */
static int take_reply(struct search *s, struct err *err)
{
	enum search_event given = s->given;

	s->given = SEARCH_DONE;
	switch (given) {
	case SEARCH_BEGIN:
		s->worker->busy = true;
		return server_start(&s->worker->server, err);
	case SEARCH_ENDED:
		if (s->result.verdict == ORACLE_FAILED)
			add_failure(s, s->worker);
		if (s->goes_on)
			go_on(s, s->worker);
		return 0;
	case SEARCH_FAILED:
		search_memory_answer(s->memory, s->identity, s->answer);
		settle_signature(s);
		s->enough |= s->answer == SEARCH_ENOUGH;
		return 0;
	default:
		return 0;
	}
}

int search_next(struct search *s, struct search_run *run, struct err *err)
{
	int event = NOTHING;

	if (!s || take_reply(s, err) < 0)
		return -1;
	while (event == NOTHING && s->step != STEP_OVER)
		switch (s->step) {
		case STEP_BEGIN: event = begin_runs(s, run); break;
		case STEP_END: event = end_runs(s, run, err); break;
		case STEP_REPORT: event = report(s, run); break;
		case STEP_LOOK: event = look(s, run); break;
		case STEP_CHECK: event = check(s); break;
		case STEP_OVER: break;
		}
	if (event > 0)
		s->given = (enum search_event)event;
	run->search = s;
	return event;
}

void search_cause(struct search *s, uint64_t cause)
{
	s->cause = cause;
}

void search_answer(struct search *s, enum search_answer answer)
{
	s->answer = answer;
}

bool search_had_enough(const struct search *s)
{
	return s->enough;
}

void search_stop(struct search *s)
{
	s->stopping = true;
}

void search_report(int event, const struct search_run *run, const struct search_listener *listener)
{
	if (event == SEARCH_PROGRESS && listener->progress)
		listener->progress(listener->ctx, run->search->stats);
	if (event == SEARCH_FAILED && listener->found)
		search_answer(run->search, listener->found(listener->ctx, run->failure));
	else if (event == SEARCH_FAILED)
		search_failure_free(run->failure);
}

/* --- the whole --- */

static int open_workers(struct search *s, struct err *err)
{
	struct server_config config = s->config.program.server;
	unsigned jobs = s->goes_on ? 1 : s->config.plan.jobs > 64 ? 64 : s->config.plan.jobs;

	s->workers = xcalloc(jobs, sizeof(*s->workers));
	for (s->count = 0; s->count < jobs;) {
		struct worker *w = &s->workers[s->count++];

		if (server_open(&w->server, &config, err) < 0)
			return -1;
		config.exec = s->stats->exec = w->server.exec;
		if (s->count == 1 && w->server.pid > 0)
			places_read(s->places, w->server.pid);
	}
	places_add_program(s->places, config.target->program);
	return 0;
}

struct search *search_open(const struct search_config *config, struct err *err)
{
	struct search *s = xcalloc(1, sizeof(*s));

	s->config = *config;
	s->memory = config->memory ? config->memory : &s->own;
	for (size_t i = 0; i < s->memory->count; i++)
		map_put(&s->known, s->memory->granules[i], NULL);
	s->stats = config->stats;
	s->runs_before = s->stats->runs;
	s->seconds_before = s->stats->seconds;
	s->places = config->program.places;
	s->goes_on = config->plan.strategy->end != NULL;
	s->anew = s->goes_on;
	s->limit = 1;
	s->again = UINT64_MAX;
	s->began = s->progress_at = s->strays_at = clock_seconds();
	strays_adopt();
	if (open_workers(s, err) == 0)
		return s;
	search_close(s);
	return NULL;
}

void search_close(struct search *s)
{
	if (!s)
		return;
	s->stats->seconds = s->seconds_before + clock_seconds() - s->began;
	for (unsigned i = 0; i < s->count; i++) {
		snapshots_free(&s->workers[i].shots);
		server_close(&s->workers[i].server);
	}
	strays_end_all(NULL, 0);
	for (size_t i = s->reported; i < s->failure_count; i++)
		search_failure_free(s->failures[i]);
	free(s->workers);
	free(s->failures);
	free(s->fresh);
	map_free(&s->known);
	map_free(&s->signatures);
	search_memory_free(&s->own);
	free(s);
}

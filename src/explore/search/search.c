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
#define RESTARTS_MAX 100u	/* of a search that goes on from run to run */
#define STRAYS_SECONDS 1.0
#define PROGRESS_SECONDS 0.1

struct worker {
	struct server server;
	uint64_t run;
	bool busy;
	struct snapshots shots;
	struct snapshots_point point;	/* where its run begins */
	bool on_the_way;	/* … and it makes another one first to get there */
	size_t granules;	/* of the search that are in the block already */
};

struct search {
	const struct search_config *config;
	struct search_stats *stats;
	struct places *places;
	struct worker *workers;
	unsigned count;
	bool goes_on;		/* the strategy's state lives from run to run */
	bool anew;		/* … it begins anew with the next run */
	uint64_t base;		/* … and counts runs from this one */
	unsigned restarts;
	uint64_t next;		/* run to start */
	uint64_t limit;		/* end of the generation */
	uint64_t again;		/* run that was lost and has to be made again; UINT64_MAX: none */
	bool over;
	/* What is known. */
	struct search_memory *memory, own;
	struct map known;	/* granules */
	uint64_t *fresh;	/* of this generation */
	size_t fresh_count, fresh_capacity;
	uint64_t length, longest_run;	/* of the longest run */
	uint32_t threads;
	uint64_t events[CTL_THREADS];
	uint32_t parent[CTL_THREADS];
	/* Failures of this generation, one per signature; and signatures of all before. */
	struct search_failure **failures;
	size_t failure_count, failure_capacity;
	struct map signatures;
	uint64_t runs_before;	/* of other searches, in the same statistics */
	double seconds_before;
	double began, strays_at, progress_at;
};

static bool stopped(const struct search *s)
{
	return s->over || (s->config->stop && *s->config->stop) ||
	       (s->config->seconds > 0 && clock_seconds() - s->began >= s->config->seconds);
}

static void prepare(struct search *s, struct worker *w)
{
	const struct search_config *c = s->config;
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
	/* What a run found lies behind the known ones, so new knowledge overwrites it. */
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

/* Starts the run, or first the one that leads to where it begins. */
static int start(struct search *s, struct worker *w, struct err *err)
{
	const struct search_config *c = s->config;

	prepare(s, w);
	w->on_the_way = snapshots_towards(&w->shots, &w->server, &w->point);
	if (!w->on_the_way && c->shape)
		c->shape(c->ctx, w->run, &w->server);
	w->busy = true;
	return server_start(&w->server, err);
}

/* Granules the run found shared that nobody knew. */
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
	/* Ties go to the earlier run, whoever ended first. */
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

/* Failures of this signature are not told any more. */
static bool is_settled(const struct search *s, uint64_t signature)
{
	const uint64_t *settled = map_find(&s->signatures, signature);

	return settled && *settled;
}

static void add_failure(struct search *s, struct worker *w, struct oracle_result *result)
{
	const struct search_config *c = s->config;
	struct search_failure **place = NULL;
	uint64_t cause = c->cause ? c->cause(c->ctx, w->run) : 0;

	s->stats->failed++;
	result->signature = with_cause(result->signature, cause);
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
	*place = search_failure_new(&w->server, s->memory, s->config->oracle, w->run, result);
	(*place)->run = s->runs_before + w->run;
	(*place)->cause = cause;
	/* Later runs do not matter any more, unless all failures are wanted. */
	if (!s->config->keep_going && w->run + 1 < s->limit)
		s->limit = w->run + 1;
}

/* Was there more to a run than the strategy could branch at? Then not all was tried. */
static bool was_truncated(const struct search *s, struct worker *w)
{
	struct chess_status status = { 0 };

	if (strcmp(s->config->strategy->name, "chess") == 0)
		chess_status(server_area(&w->server, w->server.block->state), &status);
	s->stats->truncated |= status.truncated;
	return status.truncated;
}

/* Turns to the next run of a strategy that goes on; it may have none. */
static void go_on(struct search *s, struct worker *w)
{
	struct ctl_block *b = w->server.block;

	if (s->fresh_count > 0 && s->restarts < RESTARTS_MAX) {
		s->restarts++;
		s->anew = true;		/* there are more steps than it knew of */
		s->base = w->run + 1;
	} else if (!s->config->strategy->end(server_area(&w->server, b->state))) {
		s->stats->exhausted = !was_truncated(s, w);
		s->over = true;
	}
	s->limit = w->run + 1;
}

static int ended(struct search *s, struct worker *w, struct err *err)
{
	struct oracle_result result;

	w->busy = false;
	if (w->on_the_way) {
		snapshots_arrived(&w->shots, &w->server, &w->point);
		return start(s, w, err);
	}
	if (w->server.result.lost) {
		s->stats->lost++;
		s->again = w->run;
		if (s->goes_on) {
			s->anew = true;
			s->base = w->run;
		}
		return 0;
	}
	if (oracle_judge(s->config->oracle, &w->server, &result, err) < 0)
		return -1;
	if (result.verdict == ORACLE_BROKEN)
		return err_set(err, "the program cannot be controlled: %.300s", result.text);
	s->stats->runs++;
	s->stats->steps += w->server.block->report.steps;
	if (result.verdict == ORACLE_CUT)
		s->stats->cut++;
	s->stats->interleavings = coverage_add(&s->memory->coverage, w->server.block);
	learn_shared(s, w);
	if (!w->server.result.timed_out)
		learn_length(s, w);
	if (s->config->judged)
		s->config->judged(s->config->ctx, w->run, &w->server, &result);
	if (result.verdict == ORACLE_FAILED)
		add_failure(s, w, &result);
	if (s->goes_on)
		go_on(s, w);
	return 0;
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

/* Different signatures may still be one and the same at a second look, at the sources. */
static enum search_answer tell(struct search *s, struct search_failure *f)
{
	uint64_t identity, signature = f->result.signature;
	enum search_answer answer;

	oracle_refine(&f->result, f->report, s->places);
	identity = with_cause(oracle_identity(&f->result, s->places), f->cause);
	if (search_memory_wants(s->memory, identity)) {
		s->stats->failures++;
		answer = s->config->found(s->config->ctx, f);
		search_memory_told(s->memory, identity, answer);
	} else {
		answer = SEARCH_MORE;
		search_failure_free(f);
	}
	*map_put(&s->signatures, signature, NULL) = !search_memory_wants(s->memory, identity);
	return answer;
}

/* All runs of it have ended: what they found is told, and what they taught holds from now on. */
static void end_generation(struct search *s)
{
	bool enough = false;

	if (s->failure_count > 1)
		qsort(s->failures, s->failure_count, sizeof(*s->failures), by_run);
	for (size_t i = 0; i < s->failure_count; i++)
		if (!enough && (i == 0 || s->config->keep_going))
			enough = tell(s, s->failures[i]) == SEARCH_ENOUGH;
		else
			search_failure_free(s->failures[i]);
	s->over |= enough;
	s->failure_count = 0;
	if (s->fresh_count > 1)
		qsort(s->fresh, s->fresh_count, sizeof(*s->fresh), by_value);
	for (size_t i = 0; i < s->fresh_count; i++) {
		s->memory->granules = xgrow(s->memory->granules, s->memory->count, &s->memory->capacity,
				    sizeof(*s->memory->granules));
		s->memory->granules[s->memory->count++] = s->fresh[i];
	}
	s->fresh_count = 0;
	s->stats->shared = s->memory->count;
	if (s->length > s->memory->length) {
		s->memory->length = s->length;
		s->memory->threads = s->threads;
		memcpy(s->memory->events, s->events, sizeof(s->events));
		memcpy(s->memory->parent, s->parent, sizeof(s->parent));
	}
	if (s->config->generation)
		s->config->generation(s->config->ctx);
	if (s->limit < s->next)
		s->limit = s->next;
	s->limit += s->goes_on || s->limit == 0 ? 1 :
		    s->limit < GENERATION_MOST ? s->limit : GENERATION_MOST;
}

static bool any_busy(const struct search *s)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->workers[i].busy)
			return true;
	return false;
}

/* The number of the next run; false: none may be started now. */
static bool take(struct search *s, uint64_t *run)
{
	if (s->again != UINT64_MAX) {
		*run = s->again;
		s->again = UINT64_MAX;
		return true;
	}
	if (stopped(s) || (s->config->runs && s->next >= s->config->runs) || s->next >= s->limit)
		return false;
	*run = s->next++;
	return true;
}

static int feed(struct search *s, struct err *err)
{
	for (unsigned i = 0; i < s->count; i++) {
		struct worker *w = &s->workers[i];

		if (w->busy || !take(s, &w->run))
			continue;
		w->point = (struct snapshots_point){ 0 };
		if (s->config->from)
			s->config->from(s->config->ctx, w->run, &w->point);
		if (start(s, w, err) < 0)
			return -1;
	}
	return 0;
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

static void look_after(struct search *s)
{
	pid_t keep[64];
	double t = clock_seconds();

	if (t - s->progress_at >= PROGRESS_SECONDS) {
		s->progress_at = t;
		s->stats->seconds = s->seconds_before + t - s->began;
		if (s->config->progress)
			s->config->progress(s->config->ctx, s->stats);
	}
	/* What left its group: only when no run is under way that it could belong to. */
	if (t - s->strays_at >= STRAYS_SECONDS && !any_busy(s)) {
		s->strays_at = t;
		for (unsigned i = 0; i < s->count; i++)
			keep[i] = s->workers[i].server.pid;
		strays_end_all(keep, s->count);
	}
}

static int loop(struct search *s, struct err *err)
{
	for (;;) {
		if (feed(s, err) < 0)
			return -1;
		if (!any_busy(s)) {
			end_generation(s);
			look_after(s);
			if (stopped(s) || (s->config->runs && s->next >= s->config->runs))
				return 0;
			continue;
		}
		wait_for_any(s);
		for (unsigned i = 0; i < s->count; i++)
			if (s->workers[i].busy && server_attend(&s->workers[i].server) &&
			    ended(s, &s->workers[i], err) < 0)
				return -1;
		look_after(s);
		if (s->config->stop && *s->config->stop)
			return 0;
	}
}

static int open_workers(struct search *s, struct err *err)
{
	struct server_config config = s->config->server;
	unsigned jobs = s->goes_on ? 1 : s->config->jobs > 64 ? 64 : s->config->jobs;

	s->workers = xcalloc(jobs, sizeof(*s->workers));
	for (s->count = 0; s->count < jobs;) {
		struct worker *w = &s->workers[s->count++];

		if (server_open(&w->server, &config, err) < 0)
			return -1;
		config.exec = s->stats->exec = w->server.exec;
		if (s->count == 1 && w->server.pid > 0)
			places_read(s->places, w->server.pid);
	}
	places_add_program(s->places, s->config->server.target->program);
	return 0;
}

static void clean_up(struct search *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		snapshots_free(&s->workers[i].shots);
		server_close(&s->workers[i].server);
	}
	strays_end_all(NULL, 0);
	for (size_t i = 0; i < s->failure_count; i++)
		search_failure_free(s->failures[i]);
	free(s->workers);
	free(s->failures);
	free(s->fresh);
	map_free(&s->known);
	map_free(&s->signatures);
	search_memory_free(&s->own);
	free(s);
}

int search_run(const struct search_config *config, struct places *places,
	       struct search_stats *stats, struct err *err)
{
	struct search *s = xcalloc(1, sizeof(*s));
	int result;

	s->config = config;
	s->memory = config->memory ? config->memory : &s->own;
	for (size_t i = 0; i < s->memory->count; i++)
		map_put(&s->known, s->memory->granules[i], NULL);
	s->runs_before = stats->runs;
	s->seconds_before = stats->seconds;
	s->stats = stats;
	s->places = places;
	s->goes_on = config->strategy->end != NULL;
	s->anew = s->goes_on;
	s->limit = 1;
	s->again = UINT64_MAX;
	s->began = s->progress_at = s->strays_at = clock_seconds();
	strays_adopt();
	result = open_workers(s, err);
	if (result == 0)
		result = loop(s, err);
	stats->seconds = s->seconds_before + clock_seconds() - s->began;
	clean_up(s);
	return result;
}

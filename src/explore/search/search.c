/*
 * The loop behind search_next(): a state machine (enum step) that gives runs to idle workers, waits
 * for runs to end, and at the end of a generation reports failures and publishes what the runs
 * found.
 *
 * During a generation all runs see the same search_memory. What they find (granules, length of the
 * longest run, failures) is collected aside and merged in the order of run numbers by
 * end_generation(). That makes the result independent of the number of workers.
 *
 * A strategy with an end() function, such as chess, keeps its state from run to run. Such a search
 * has one worker, and each run is a generation.
 */
#include "explore/search/search.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "explore/search/uncontrolled.h"
#include "explore/target/block.h"
#include "explore/target/orphans.h"
#include "sched/chess.h"

#define GENERATION_MOST 256u	/* runs per generation: they learn nothing from each other */
#define WORKERS_MAX 64u		/* bounds the arrays for poll() and for orphans */
#define RESTARTS_MAX 100u	/* resets of a stateful strategy: each repeats its work */
#define ORPHANS_SECONDS 1.0	/* between two walks through /proc for orphans */
#define PROGRESS_SECONDS 0.1	/* between two SEARCH_PROGRESS events */

#define ENDED_LEAST 4u		/* runs, of which one has to end within the limits */
#define TIMED_OUT_MOST 20u	/* runs that may time out in a search without a time limit */

#define NO_EVENT 0		/* result of a step: go on with the next step */

struct worker {
	struct server server;
	uint64_t run;		/* number of its run */
	bool busy;		/* a run is in progress */
	struct snapshots snapshots;
	struct snapshots_point point;	/* where the run begins */
	bool to_snapshot;	/* a preliminary run to `point` is in progress */
	size_t granules;	/* number of granules of the memory already copied to its block */
};

/* The next step of search_next(). */
enum step {
	STEP_BEGIN,		/* give a run to each idle worker */
	STEP_END,		/* handle runs that ended */
	STEP_REPORT,		/* no run is in progress: report failures, begin a generation */
	STEP_HOUSEKEEPING,	/* kill orphans, report progress */
	STEP_CHECK,		/* decide whether the search is over */
	STEP_OVER,
};

struct search {
	struct search_config config;
	struct search_stats *stats;
	struct places *places;
	struct worker *workers;
	unsigned count;		/* of workers */
	bool stateful;		/* the strategy keeps its state from run to run */
	bool reset_strategy;	/* the next run resets the state of the strategy */
	uint64_t base;		/* number of the first run since the last reset */
	unsigned restarts;	/* resets so far */
	uint64_t next;		/* number of the next run to start */
	uint64_t limit;		/* first run number of the next generation */
	uint64_t lost_run;	/* run to repeat because its server died; UINT64_MAX: none */
	bool over;		/* begin no run: strategy exhausted, or the caller wants no more */
	bool stopping;		/* search_stop() was called */
	enum step step;
	unsigned at;		/* index of the next worker to handle in this step */
	/* The last event, and the caller's answer to it. */
	enum search_event last_event;
	struct worker *worker;	/* of SEARCH_BEGIN and SEARCH_ENDED */
	struct oracle_result result;	/* of SEARCH_ENDED */
	uint64_t cause;		/* answer to SEARCH_ENDED */
	enum search_answer answer;	/* answer to SEARCH_FAILED */
	bool generation_ended;	/* since the last STEP_CHECK */
	struct search_memory *memory, own_memory;	/* own_memory: if the caller has none */
	struct map known_granules;	/* set: those of the memory and of this generation */
	uint64_t *new_granules;	/* found in this generation */
	size_t new_count, new_capacity;	/* of new_granules */
	/* The longest run. */
	uint64_t length, longest_run;	/* its steps and run number */
	uint32_t threads;
	uint64_t events[CTL_THREADS];	/* visible events of each thread */
	uint32_t parent[CTL_THREADS];	/* number of each thread's creator */
	struct search_failure *inconclusive;	/* first of this generation that exceeded a limit */
	struct search_failure **failures;	/* of this generation, one per signature */
	size_t failure_count, failure_capacity;
	size_t reported;	/* number of `failures` handled by STEP_REPORT */
	uint64_t identity, signature;	/* of the last SEARCH_FAILED */
	bool enough;		/* the caller answered SEARCH_ENOUGH */
	struct map signatures;	/* of earlier failures -> 1: report no more of them */
	uint64_t runs_before;	/* stats->runs of earlier searches */
	double seconds_before;	/* stats->seconds of earlier searches */
	double began, orphans_at, progress_at;	/* clock_seconds(): start, last kill, last event */
};

void search_stats_limit(struct search_stats *stats, const struct oracle_result *result)
{
	stats->cut += result->failure == ORACLE_STEPS;
	stats->timed_out += result->failure == ORACLE_TIMEOUT;
}

bool search_stats_hopeless(const struct search_stats *stats, const struct search_budget *budget)
{
	uint64_t limited = stats->cut + stats->timed_out + stats->damaged;

	return (limited == stats->runs && limited >= ENDED_LEAST) ||
	       (budget->deadline.until <= 0 && stats->timed_out >= TIMED_OUT_MOST);
}

static bool is_late(const struct search *s)
{
	return deadline_over(&s->config.budget.deadline);
}

/* No further run begins, except to repeat a lost one. */
static bool is_spent(const struct search *s)
{
	const struct search_budget *b = &s->config.budget;

	return s->over || s->stopping || is_late(s) || (b->runs && s->next >= b->runs);
}

/* Fills in the request from the plan and from the memory of earlier generations. */
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
	q->begin_search = !s->stateful || s->reset_strategy;
	q->run = w->run - s->base;
	q->max_steps = c->max_steps;
	q->plan_size = 0;
	if (s->reset_strategy) {
		s->reset_strategy = false;
		q->run = 0;
	}
	/* The last run appended its new granules to the area: overwrite them. */
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

/* Collects shared granules that no earlier run found. */
static void note_shared(struct search *s, struct worker *w)
{
	struct ctl_block *b = w->server.block;
	const uint64_t *shared = server_area(&w->server, b->shared);
	uint64_t most = b->shared_size / sizeof(*shared), count = b->report.shared_new;

	for (uint64_t i = 0; i < count && s->memory->count + i < most; i++) {
		bool added;

		map_put(&s->known_granules, shared[s->memory->count + i], &added);
		if (!added)
			continue;
		s->new_granules = xgrow(s->new_granules, s->new_count, &s->new_capacity,
					sizeof(*s->new_granules));
		s->new_granules[s->new_count++] = shared[s->memory->count + i];
	}
}

/* Remembers the longest run. Of equally long runs the one with the lowest number counts. */
static void note_length(struct search *s, const struct worker *w)
{
	const struct ctl_report *r = &w->server.block->report;
	uint32_t threads = r->threads < CTL_THREADS ? r->threads : CTL_THREADS;

	if (threads > s->stats->threads)
		s->stats->threads = threads;
	if (r->steps < s->length || (r->steps == s->length && w->run > s->longest_run))
		return;
	s->length = r->steps;
	s->longest_run = w->run;
	s->threads = threads;
	memcpy(s->events, r->events, threads * sizeof(*s->events));
	memcpy(s->parent, r->parent, threads * sizeof(*s->parent));
}

/* Combines a signature or identity with the hash of a cause. */
static uint64_t hash_with_cause(uint64_t symptom, uint64_t cause)
{
	return symptom ^ hash_spread(cause);
}

/* Whether failures of this signature are no longer reported. */
static bool is_ignored(const struct search *s, uint64_t signature)
{
	const uint64_t *ignored = map_find(&s->signatures, signature);

	return ignored && *ignored;
}

/* Keeps one failure for each signature: that of the lowest run number. */
static void add_failure(struct search *s, struct worker *w)
{
	struct oracle_result *result = &s->result;
	struct search_failure **slot = NULL;

	s->stats->failed++;
	result->signature = hash_with_cause(result->signature, s->cause);
	if (is_ignored(s, result->signature))
		return;
	for (size_t i = 0; i < s->failure_count; i++)
		if (s->failures[i]->result.signature == result->signature)
			slot = &s->failures[i];
	if (slot && (*slot)->schedule.run < w->run)
		return;
	if (slot) {
		search_failure_free(*slot);
	} else {
		s->failures = xgrow(s->failures, s->failure_count, &s->failure_capacity,
				    sizeof(*s->failures));
		slot = &s->failures[s->failure_count++];
	}
	*slot = search_failure_new(&w->server, s->memory, s->config.program.oracle, w->run, result);
	(*slot)->run = s->runs_before + w->run;
	(*slot)->cause = s->cause;
	/* Without keep_going only the first failing run counts, so later runs are not begun. */
	if (!s->config.plan.keep_going && w->run + 1 < s->limit)
		s->limit = w->run + 1;
}

/* Keeps the run of the lowest number that exceeded a limit, to report it at the generation's end.
 */
static void add_inconclusive(struct search *s, struct worker *w)
{
	struct search_failure *old = s->inconclusive;

	if (s->memory->inconclusive || (old && old->schedule.run < w->run))
		return;
	if (old)
		search_failure_free(old);
	s->inconclusive = search_failure_new(&w->server, s->memory, s->config.program.oracle,
					     w->run, &s->result);
	s->inconclusive->run = s->runs_before + w->run;
}

/* Whether chess had no room for some branches of a run, so that it did not try all schedules. */
static bool was_truncated(const struct search *s, struct worker *w)
{
	struct chess_status status = { 0 };

	if (strcmp(s->config.plan.strategy->name, "chess") == 0)
		chess_status(server_area(&w->server, w->server.block->state), &status);
	s->stats->truncated |= status.truncated;
	return status.truncated;
}

/* Advances a stateful strategy to its next run; ends the search if there is none. */
static void advance_strategy(struct search *s, struct worker *w)
{
	struct ctl_block *b = w->server.block;

	if ((s->new_count > 0 || s->result.verdict == ORACLE_DAMAGED) &&
	    s->restarts < RESTARTS_MAX) {
		s->restarts++;
		/*
		 * A damaged state cannot be continued. New shared granules make more accesses
		 * visible, so step numbers changed.
		 */
		s->reset_strategy = true;
		s->base = w->run + 1;
	} else if (s->result.verdict == ORACLE_DAMAGED) {
		s->over = true;	/* after RESTARTS_MAX such runs */
	} else if (!s->config.plan.strategy->end(server_area(&w->server, b->state))) {
		s->stats->exhausted = !was_truncated(s, w);
		s->over = true;
	} else {
		block_write_state(&w->server);
	}
	s->limit = w->run + 1;
}

/* --- the steps; each returns an event for the caller, NO_EVENT, or -1 --- */

static int give_begin(struct search *s, struct worker *w, struct search_run *run)
{
	prepare(s, w);
	w->to_snapshot = false;
	s->worker = w;
	*run = (struct search_run){ .number = w->run, .server = &w->server };
	return SEARCH_BEGIN;
}

bool search_begin_at(struct search *s, const struct snapshots_point *point)
{
	struct worker *w = s->worker;

	/* The second call, after a preliminary run, keeps the point of the first one. */
	if (!w->point.steps)
		w->point = *point;
	w->to_snapshot = snapshots_towards(&w->snapshots, &w->server, &w->point);
	return w->to_snapshot;
}

/* The fork server died in the run: have it repeated. */
static void note_lost(struct search *s, const struct worker *w)
{
	s->stats->lost++;
	s->lost_run = w->run;
	if (s->stateful) {
		s->reset_strategy = true;
		s->base = w->run;
	}
}

/* The run damaged the memory that it shares with snarl, so that nothing is known about it. */
static void note_damaged(struct search *s, struct worker *w)
{
	if (s->stats->damaged++ == 0)
		log_warn("%s; such runs are not judged", s->result.text);
	w->granules = 0;	/* the list in the shared memory is lost */
}

/* Handles the end of a worker's run, or of a preliminary run to a snapshot. */
static int end_run(struct search *s, struct worker *w, struct search_run *run, struct err *err)
{
	struct search_stats *stats = s->stats;

	w->busy = false;
	if (w->to_snapshot) {
		snapshots_arrived(&w->snapshots, &w->server, &w->point);
		return give_begin(s, w, run);
	}
	if (w->server.result.lost) {
		note_lost(s, w);
		return NO_EVENT;
	}
	if (oracle_judge(s->config.program.oracle, &w->server, &s->result, err) < 0)
		return is_late(s) ? NO_EVENT : -1; /* the time was up during the --check command */
	if (s->result.verdict == ORACLE_BROKEN)
		return err_set(err, "the program cannot be controlled: %.300s", s->result.text);
	stats->runs++;
	stats->steps += w->server.block->report.steps;
	stats->ignored += s->result.ignored;
	if (s->result.verdict == ORACLE_INCONCLUSIVE)
		search_stats_limit(stats, &s->result);
	if (s->result.verdict == ORACLE_DAMAGED) {
		note_damaged(s, w);
	} else {
		stats->interleavings = interleavings_seen_add(&s->memory->interleavings,
							      w->server.block);
		note_shared(s, w);
		uncontrolled_add(&stats->uncontrolled, &w->server.block->report.uncontrolled);
		if (!w->server.result.timed_out)
			note_length(s, w);
	}
	s->worker = w;
	s->cause = 0;
	*run = (struct search_run){ .number = w->run, .server = &w->server, .result = &s->result };
	return SEARCH_ENDED;
}

/* Takes the number of the next run. False: no run may begin now. */
static bool take_run(struct search *s, uint64_t *run)
{
	if (s->lost_run != UINT64_MAX && !is_late(s)) {
		*run = s->lost_run;
		s->lost_run = UINT64_MAX;
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

/* Waits until a worker has something to do, at most 100 ms. */
static void wait_for_any(struct search *s)
{
	struct pollfd polls[WORKERS_MAX * SERVER_POLLS];
	size_t count = 0;
	int timeout = 100;

	for (unsigned i = 0; i < s->count; i++)
		if (s->workers[i].busy) {
			int ms = server_poll_timeout(&s->workers[i].server);

			count += server_polls(&s->workers[i].server, polls + count);
			timeout = ms >= 0 && ms < timeout ? ms : timeout;
		}
	poll(polls, count, deadline_poll(&s->config.budget.deadline, timeout));
}

static void abandon_runs(struct search *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		if (s->workers[i].busy)
			server_abandon(&s->workers[i].server);
		s->workers[i].busy = false;
	}
}

/* Gives a run to the next idle worker. If there is none, waits for the runs in progress. */
static int begin_runs(struct search *s, struct search_run *run)
{
	while (s->at < s->count) {
		struct worker *w = &s->workers[s->at++];

		if (w->busy || !take_run(s, &w->run))
			continue;
		w->point = (struct snapshots_point){ 0 };
		return give_begin(s, w, run);
	}
	s->at = 0;
	if (is_late(s))
		abandon_runs(s);
	s->step = any_busy(s) ? STEP_END : STEP_REPORT;
	if (s->step == STEP_END)
		wait_for_any(s);
	return NO_EVENT;
}

static int end_runs(struct search *s, struct search_run *run, struct err *err)
{
	while (s->at < s->count) {
		struct worker *w = &s->workers[s->at++];
		int event;

		if (!w->busy || !server_attend(&w->server))
			continue;
		event = end_run(s, w, run, err);
		if (event != NO_EVENT)
			return event;
	}
	s->step = STEP_HOUSEKEEPING;
	return NO_EVENT;
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

/* Notes whether to ignore further failures of the signature, without computing their identity. */
static void update_signature(struct search *s)
{
	*map_put(&s->signatures, s->signature, NULL) = !search_memory_wants(s->memory, s->identity);
}

/* Whether to report `f`. Failures with different signatures may have equal identities. */
static bool is_wanted(struct search *s, struct search_failure *f)
{
	s->signature = f->result.signature;
	oracle_refine(&f->result, f->report, s->places);
	s->identity = hash_with_cause(oracle_identity(&f->result, s->places), f->cause);
	return search_memory_wants(s->memory, s->identity);
}

/* Merges the findings of the generation into the memory, and sets the end of the next one. */
static void end_generation(struct search *s)
{
	struct search_memory *m = s->memory;

	if (s->new_count > 1)
		qsort(s->new_granules, s->new_count, sizeof(*s->new_granules), by_value);
	for (size_t i = 0; i < s->new_count; i++) {
		m->granules = xgrow(m->granules, m->count, &m->capacity, sizeof(*m->granules));
		m->granules[m->count++] = s->new_granules[i];
	}
	s->new_count = 0;
	s->stats->shared = m->count;
	if (s->length > m->length) {
		m->length = s->length;
		m->threads = s->threads;
		memcpy(m->events, s->events, sizeof(s->events));
		memcpy(m->parent, s->parent, sizeof(s->parent));
	}
	if (s->limit < s->next)
		s->limit = s->next;
	s->limit += s->stateful || s->limit == 0 ? 1 :
		    s->limit < GENERATION_MOST ? s->limit : GENERATION_MOST;
}

/* Reports the failures of the generation one by one, lowest run number first; then ends it. */
static int report_failures(struct search *s, struct search_run *run)
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
		update_signature(s);
	}
	s->failure_count = s->reported = 0;
	if (s->inconclusive && !s->memory->inconclusive) {
		s->memory->inconclusive = true;
		*run = (struct search_run){ .number = s->inconclusive->schedule.run,
					    .failure = s->inconclusive };
		return SEARCH_INCONCLUSIVE;
	}
	s->over |= s->enough || search_stats_hopeless(s->stats, &s->config.budget);
	end_generation(s);
	s->generation_ended = true;
	s->step = STEP_HOUSEKEEPING;
	*run = (struct search_run){ .number = s->next };
	return SEARCH_GENERATION;
}

/* Kills orphans once a second; returns SEARCH_PROGRESS ten times a second. */
static int do_housekeeping(struct search *s, struct search_run *run)
{
	pid_t keep[WORKERS_MAX];
	double t = clock_seconds();
	bool progress = t - s->progress_at >= PROGRESS_SECONDS;

	/* Orphans may have left their process group. A run in progress could own them: wait. */
	if (t - s->orphans_at >= ORPHANS_SECONDS && !any_busy(s)) {
		s->orphans_at = t;
		for (unsigned i = 0; i < s->count; i++)
			keep[i] = s->workers[i].server.pid;
		orphans_end_all(keep, s->count);
	}
	s->step = STEP_CHECK;
	if (!progress)
		return NO_EVENT;
	s->progress_at = t;
	s->stats->seconds = s->seconds_before + t - s->began;
	*run = (struct search_run){ .number = s->next };
	return SEARCH_PROGRESS;
}

/* The budget ends a search at a generation's end; search_stop() ends it at once. */
static int check_over(struct search *s)
{
	bool over = s->generation_ended ? is_spent(s) : s->stopping;

	s->generation_ended = false;
	s->at = 0;
	s->step = over ? STEP_OVER : STEP_BEGIN;
	return NO_EVENT;
}

/* Handles the caller's answer to the last event. */
static int handle_reply(struct search *s, struct err *err)
{
	enum search_event last = s->last_event;

	s->last_event = SEARCH_DONE;
	switch (last) {
	case SEARCH_BEGIN:
		s->worker->busy = true;
		return server_start(&s->worker->server, err);
	case SEARCH_ENDED:
		if (s->result.verdict == ORACLE_FAILED)
			add_failure(s, s->worker);
		else if (s->result.verdict == ORACLE_INCONCLUSIVE)
			add_inconclusive(s, s->worker);
		if (s->stateful)
			advance_strategy(s, s->worker);
		return 0;
	case SEARCH_FAILED:
		search_memory_answer(s->memory, s->identity, s->answer);
		update_signature(s);
		s->enough |= s->answer == SEARCH_ENOUGH;
		return 0;
	default:
		return 0;
	}
}

int search_next(struct search *s, struct search_run *run, struct err *err)
{
	int event = NO_EVENT;

	if (!s || handle_reply(s, err) < 0)
		return -1;
	while (event == NO_EVENT && s->step != STEP_OVER)
		switch (s->step) {
		case STEP_BEGIN: event = begin_runs(s, run); break;
		case STEP_END: event = end_runs(s, run, err); break;
		case STEP_REPORT: event = report_failures(s, run); break;
		case STEP_HOUSEKEEPING: event = do_housekeeping(s, run); break;
		case STEP_CHECK: event = check_over(s); break;
		case STEP_OVER: break;
		}
	if (event > 0)
		s->last_event = (enum search_event)event;
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
	if (event == SEARCH_INCONCLUSIVE && listener->inconclusive)
		listener->inconclusive(listener->ctx, run->failure);
	if (event == SEARCH_FAILED && listener->found)
		search_answer(run->search, listener->found(listener->ctx, run->failure));
	else if (event == SEARCH_FAILED)
		search_failure_free(run->failure);
}

/* --- opening and closing --- */

static int open_workers(struct search *s, struct err *err)
{
	struct server_config config = s->config.program.server;
	unsigned jobs = s->stateful ? 1 :
			s->config.plan.jobs > WORKERS_MAX ? WORKERS_MAX : s->config.plan.jobs;

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
	s->memory = config->memory ? config->memory : &s->own_memory;
	for (size_t i = 0; i < s->memory->count; i++)
		map_put(&s->known_granules, s->memory->granules[i], NULL);
	s->stats = config->stats;
	s->runs_before = s->stats->runs;
	s->seconds_before = s->stats->seconds;
	s->places = config->program.places;
	s->stateful = config->plan.strategy->end != NULL;
	s->reset_strategy = s->stateful;
	s->limit = 1;
	s->lost_run = UINT64_MAX;
	s->began = s->progress_at = s->orphans_at = clock_seconds();
	orphans_adopt();
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
		snapshots_free(&s->workers[i].snapshots);
		server_close(&s->workers[i].server);
	}
	orphans_end_all(NULL, 0);
	for (size_t i = s->reported; i < s->failure_count; i++)
		search_failure_free(s->failures[i]);
	if (s->inconclusive)
		search_failure_free(s->inconclusive);
	free(s->workers);
	free(s->failures);
	free(s->new_granules);
	map_free(&s->known_granules);
	map_free(&s->signatures);
	search_memory_free(&s->own_memory);
	free(s);
}

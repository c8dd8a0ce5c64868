#include "explore/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "explore/bug/confirm.h"
#include "explore/bug/finding.h"
#include "explore/search/attempt.h"
#include "explore/search/every_run.h"
#include "explore/search/inconclusive.h"
#include "explore/target/leftovers.h"

#define REPLAY_SECONDS 30.0	/* for all replays of a failure, if that allows REPLAY_LEAST */

void session_progress(void *ctx, const struct search_stats *stats)
{
	const struct session *s = ctx;

	s->config.events.progress(s->config.events.ctx, stats, "");
}

void session_inconclusive(void *ctx, const struct search_failure *f)
{
	struct session *s = ctx;
	const struct session_config *c = &s->config;
	const struct replay_config config = { .target = &s->target, .backend = c->backend,
					      .exec = s->stats.exec, .timeout = c->timeout,
					      .max_steps = c->plan.max_steps };
	struct buf text = { 0 };

	if (s->inconclusive.text)
		return;
	inconclusive_describe(f, &config, &s->places, &text);
	s->inconclusive.text = xstrdup(buf_string(&text));
	s->inconclusive.run = f->run;
	s->inconclusive.timed_out = f->result.failure == ORACLE_TIMEOUT;
	buf_free(&text);
	c->events.inconclusive(c->events.ctx);
}

/* Called by all loops that may last: deadline_over(). */
static void on_tick(void *ctx)
{
	const struct session *s = ctx;
	struct search_stats stats = s->stats;

	stats.seconds = clock_seconds() - s->began;
	if (s->config.events.progress)
		s->config.events.progress(s->config.events.ctx, &stats, s->task);
}

static void report(const struct session *s, const struct verdict *v)
{
	s->config.events.judged(s->config.events.ctx, v);
}

/* Fills in how a failure of this session is minimised, replayed and explained. */
static void configure(struct session *s, bool every_run, struct confirm_config *out)
{
	const struct session_config *c = &s->config;

	*out = (struct confirm_config){
		.attempt = { .replay = { .target = &s->target,
					 .backend = c->backend,
					 .exec = s->stats.exec,
					 .timeout = c->timeout,
					 .max_steps = c->plan.max_steps,
					 .ignore = &s->ignore,
					 .deadline = &out->late,
					 .patience = REPLAY_SECONDS,
					 .task = s->task },
			     .deadline = &c->budget.deadline },
		.replays = c->replays,
		.out = c->out,
		.minimise = c->minimise && !c->separate,
		.runs = c->budget.runs,
		.late = deadline_extend(&c->budget.deadline, DEADLINE_GRACE),
		.places = &s->places,
	};
	if (every_run)	/* no order of events is to blame, and no run passes */
		out->minimise = false;
	else if (s->hunter)
		out->source = (struct cause_source){ hunt_leads, s->hunter };
}

/* Writes the files of a bug with all that is known now. */
static int save(struct session *s, struct bug *b, const struct verdict *v)
{
	if (bug_update(b, &s->places, &s->err) < 0)
		return -1;
	s->config.events.saved(s->config.events.ctx, v);
	return 0;
}

static void drop(struct bug *b)
{
	bug_free(b);
	free(b);
}

/* Adds a failure to the bug v->of, or drops it if that bug has its symptom already. */
static int add_to_bug(struct session *s, const struct verdict *v)
{
	if (bug_has_symptom(v->of, &v->bug->failure->result, &s->places)) {
		s->judge.exact_duplicates++;
		drop(v->bug);
		return 0;
	}
	report(s, v);
	bug_add_other(v->of, v->bug);
	return save(s, v->of, v);
}

/* Saves a new or known bug; then adds its nearest passing run and the other orders that fail. */
static int add_bug(struct session *s, struct confirm *u, struct verdict *v)
{
	struct bug *b = v->bug;
	size_t before = b->interleavings.count;

	if (bug_save(b, s->config.out, &s->target, &s->places, &s->err) < 0)
		return -1;
	if (s->judge.baseline)
		baseline_set_id(s->judge.baseline, b->id);
	report(s, v);
	confirm_find_passing(u, b);
	confirm_find_interleavings(u, b);
	v->orders = b->interleavings.count > before ? b->interleavings.count : 0;
	return save(s, b, v);
}

static void add_result(struct session *s, struct verdict *v, bool proved)
{
	results_add(&s->judge.results, v->bug, proved, &s->places);
}

/* A failure that did not replay: reports it if it is the first of its kind. */
static void add_finding(struct session *s, const struct confirm *u, struct verdict *v)
{
	if (!*v->bug->why)
		snprintf(v->bug->why, sizeof(v->bug->why), "%.250s", s->err.text);
	if (!results_find(&s->judge.results, &v->bug->failure->result, &s->places)) {
		finding_investigate(v->bug, &u->config->attempt.replay, &s->places);
		report(s, v);
	}
	add_result(s, v, false);
}

static void add_unsaved(struct session *s, struct verdict *v)
{
	v->kind = VERDICT_UNSAVED;
	v->err = s->err;
	s->failed_to_save = true;
	report(s, v);
	add_result(s, v, true);
}

/* Reports, saves or drops a failure as its verdict says. */
static void carry_out(struct session *s, struct confirm *u, struct verdict *v)
{
	switch (v->kind) {
	case VERDICT_UNPROVED: add_finding(s, u, v); break;
	case VERDICT_SUPPRESSED:
		s->judge.results.suppressed++;
		drop(v->bug);
		break;
	case VERDICT_DUPLICATE: s->failed_to_save |= add_to_bug(s, v) < 0; break;
	case VERDICT_KNOWN: case VERDICT_NEW:
		if (add_bug(s, u, v) < 0)
			add_unsaved(s, v);
		else
			add_result(s, v, true);
		break;
	case VERDICT_UNSAVED: add_unsaved(s, v); break;
	}
}

/* The answer to the search that reported the failure: whether it goes on. */
static enum search_answer answer(const struct session *s, enum verdict_kind kind)
{
	if (s->failed_to_save)
		return SEARCH_ENOUGH;
	switch (kind) {
	case VERDICT_UNPROVED: return SEARCH_DOUBT;
	case VERDICT_SUPPRESSED: return SEARCH_MORE;
	default: return s->config.plan.keep_going ? SEARCH_MORE : SEARCH_ENOUGH;
	}
}

/*
 * Number of runs that were made to see whether every run fails as `f` did, which then lost its
 * lead; 0: not every run does.
 */
static uint64_t count_every_run(struct session *s, struct search_failure *f)
{
	const struct search_stats *st = &s->stats;
	struct search_config config;
	uint64_t made;

	if (s->config.separate || st->runs > st->failed + st->cut + st->timed_out + st->damaged)
		return 0;
	session_search(s, &config);
	if (!every_run_fails(&config, f, &made))
		return 0;
	f->lead = NULL;
	f->cause = 0;
	schedule_free_goals(&f->schedule);
	return made;
}

enum search_answer session_found(void *ctx, struct search_failure *f)
{
	struct session *s = ctx;
	struct verdict v = { .bug = NULL };
	struct confirm_config config;
	struct confirm u;
	uint64_t every_run;
	bool proved;
	int code;

	if (verdict_is_duplicate(&s->judge, f)) {
		search_failure_free(f);
		return SEARCH_MORE;
	}
	v.bug = xcalloc(1, sizeof(*v.bug));
	every_run = count_every_run(s, f);
	configure(s, every_run > 0, &config);
	confirm_open(&u, &config, f);
	proved = confirm_prove(&u, v.bug, f, &code, &s->err);
	v.bug->every_run = every_run;
	if (code < 0)
		v.kind = VERDICT_UNSAVED;
	else
		verdict_decide(&s->judge, v.bug, proved, &u.cause, &v);
	/* From now on such runs count as passing, so that the failure does not hide others. */
	if (every_run && proved)
		ignore_add(&s->ignore, v.bug->fingerprint);
	carry_out(s, &u, &v);
	confirm_close(&u);
	*s->task = '\0';
	if (every_run && proved && !s->failed_to_save)
		return SEARCH_MORE;
	return answer(s, v.kind);
}

bool session_is_incomplete(const struct session *s)
{
	bool by_bug = false;

	for (size_t i = 0; i < s->judge.results.count; i++)
		by_bug |= s->judge.results.items[i].proved &&
			  !s->judge.results.items[i].bug->every_run;
	return s->hunt && s->hunt->left && (!by_bug || s->config.plan.keep_going);
}

void session_search(struct session *s, struct search_config *out)
{
	const struct session_config *c = &s->config;

	*out = (struct search_config){
		.program = { .server = { .target = &s->target,
					 .backend = c->backend,
					 .exec = c->exec,
					 .timeout = c->timeout,
					 .deadline = &c->budget.deadline,
					 .keep = c->oracle.check ? CAPTURE_CHECK : 0 },
			     .oracle = &s->oracle,
			     .places = &s->places },
		.plan = c->plan,
		.budget = c->budget,
		.stats = &s->stats,
	};
}

int session_open(struct session *s, const struct session_config *config, struct err *err)
{
	*s = (struct session){ .config = *config,
			       .oracle = config->oracle,
			       .began = clock_seconds() };
	s->config.budget.deadline = deadline_within(
		&(struct deadline){ .stop = config->stop, .tick = on_tick, .ctx = s },
		config->seconds);
	places_init(&s->places);
	s->judge = (struct judge){ .baseline = config->baseline, .suppress = config->suppress,
				   .places = &s->places, .separate = config->separate };
	s->ignore.places = &s->places;
	for (const char **g = config->ignore; g && *g; g++)
		ignore_add(&s->ignore, *g);
	s->oracle.ignore = &s->ignore;
	if (target_init(&s->target, config->program, config->environment, err) < 0)
		return -1;
	return target_input(&s->target, STDIN_FILENO, err);
}

int session_make_folder(struct session *s, struct err *err)
{
	s->made_folder = access(s->config.out, F_OK) != 0;
	leftovers_remove(s->config.out);
	return bug_folder(s->config.out, err);
}

void session_close(struct session *s)
{
	if (s->made_folder)
		rmdir(s->config.out);	/* leaves the folder if it has a result */
	free(s->inconclusive.text);
	ignore_free(&s->ignore);
	results_free(&s->judge.results);
	places_free(&s->places);
	target_free(&s->target);
}

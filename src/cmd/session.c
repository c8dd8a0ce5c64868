#include "cmd/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cmd/baseline.h"
#include "cmd/terminal.h"
#include "explore/bug/confirm.h"
#include "explore/bug/same_cause.h"
#include "explore/bug/suppressed.h"
#include "explore/search/attempt.h"
#include "report/format.h"

#define REDUNDANT_MOST 20u	/* failures that turned out to be known ones, before it is taken for granted */

volatile sig_atomic_t session_interrupted;

#define INSIST_SECONDS 2	/* timeout(1) signals the command, and then its group at once */

/* The first one is a wish to end in good order; another one later is an order. */
static void on_interrupt(int sig)
{
	static volatile time_t first;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!session_interrupted) {
		first = now.tv_sec;
	} else if (now.tv_sec - first >= INSIST_SECONDS) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	session_interrupted = 1;
}

static void heed(int sig)
{
	struct sigaction action = { .sa_handler = on_interrupt }, old;

	/* Of nohup(1) is wanted that a terminal may be closed. */
	if (sig != SIGHUP || (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN))
		sigaction(sig, &action, NULL);
}

void session_progress(void *ctx, const struct search_stats *stats)
{
	struct session *s = ctx;
	const struct hunt_stats *h = s->hunt;

	if (h)
		snprintf(s->progress.note, sizeof(s->progress.note), "%s, %llu of %llu candidates left, "
			 "%llu proved; ", hunt_stage_name(h->stage), (unsigned long long)h->left,
			 (unsigned long long)h->leads, (unsigned long long)h->proved);
	progress_show(&s->progress, stats);
}

/* As snarl report does, in brief. */
static void tell_cause(const struct bug *b, const struct places *places)
{
	struct report_style style;
	struct report r;
	struct buf text = { 0 };
	struct err err;

	terminal_style(STDERR_FILENO, &style);
	style.brief = true;
	if (report_open(&r, b->path, true, places->symbols, &err) < 0) {
		log_warn("%s", err.text);
	} else {
		report_text.all(&r, &style, &text);
		fputs(buf_string(&text), stderr);
	}
	buf_free(&text);
	report_close(&r);
}

static void tell_proved(const struct bug *b, const struct places *places)
{
	const struct minimised *m = &b->minimised;

	tell_cause(b, places);
	fprintf(stderr, "  saved as %s, replayed %u of %u time%s", b->path, b->good, b->replays,
		plural(b->replays));
	if (m->done)
		fprintf(stderr, ", with %llu switch%s between threads (of %llu)",
			(unsigned long long)m->switches, m->switches == 1 ? "" : "es", (unsigned long long)m->from);
	if (b->failure->report->threads == 1)
		fputs("\n  there was one thread only, so no schedule is to blame: arguments, input, files, rights?", stderr);
	fprintf(stderr, "\n  look at it: %s/report.html\n", b->path);
	fprintf(stderr, "  replay it: snarl replay %s\n", b->path);
	if (!b->traced)
		fprintf(stderr, "  it has no trace: %s\n", b->no_trace);
}

static void tell_doubtful(const struct bug *b, const struct err *err)
{
	fprintf(stderr, "  a candidate only, it did not replay: %s\n", *b->why ? b->why : err->text);
}

static void tell_failure(struct session *s, const struct bug *b)
{
	progress_clear(&s->progress);
	fprintf(stderr, "snarl: run %llu failed: %s\n", (unsigned long long)b->failure->run + 1, b->text);
}

static void tell_known(struct session *s, const struct bug *b, const char *known)
{
	progress_clear(&s->progress);
	if (!s->o->quiet)
		fprintf(stderr, "snarl: run %llu failed as known: %s of the baseline, saved as %s\n",
			(unsigned long long)b->failure->run + 1, known, b->path);
}

/* Between the runs that are made for a failure. */
static void on_followup(void *ctx)
{
	struct session *s = ctx;
	struct search_stats stats = s->stats;

	stats.seconds = attempt_now() - s->began;
	snprintf(s->progress.note, sizeof(s->progress.note), "minimise and replay a failure; ");
	progress_show(&s->progress, &stats);
	*s->progress.note = '\0';
}

static void configure(struct session *s, struct followup_config *out)
{
	const struct explore_options *o = s->o;

	*out = (struct followup_config){
		.attempt = { .replay = { .target = &s->target, .backend = o->backend,
					 .exec = s->stats.exec, .timeout = o->timeout,
					 .max_steps = o->max_steps },
			     .stop = &session_interrupted, .progress = on_followup, .ctx = s },
		.replays = (unsigned)o->replays, .out = o->out,
		.minimise = !o->no_minimise && !s->plain,
		.runs = o->runs, .seconds = o->seconds, .places = &s->places,
	};
	if (s->hunter) {
		out->explain = hunt_explain;
		out->leads = hunt_leads;
		out->ctx = s->hunter;
	}
}

/* The bug that was found before and has the same cause; or NULL. */
static struct bug *known(struct session *s, const struct bug *b)
{
	for (size_t i = 0; i < s->results.count && !s->plain; i++)
		if (s->results.items[i].proved && bug_same(s->results.items[i].bug, b, &s->places))
			return s->results.items[i].bug;
	return NULL;
}

/* Its files anew, and its page. */
static int update(struct session *s, struct bug *b)
{
	struct err err;

	if (bug_update(b, &s->places, &s->err) < 0)
		return -1;
	if (report_save_bug(b->path, s->places.symbols, &err) < 0)
		log_warn("no %s/report.html: %s", b->path, err.text);
	return 0;
}

/* Another failure of a bug. It is kept if it looks different. */
static int add_to(struct session *s, struct bug *of, struct bug *b)
{
	if (bug_shows_as(of, &b->failure->result, &s->places)) {
		s->redundant++;
		bug_free(b);
		free(b);
		return 0;
	}
	if (!s->o->quiet) {
		tell_failure(s, b);
		fprintf(stderr, "  the same cause as %s: saved there as failures/%02zu.txt\n", of->path,
			of->other_count + 2);
	}
	bug_add_other(of, b);
	return update(s, of);
}

/* A bug of its own. */
static int add_new(struct session *s, struct followup *u, struct bug *b)
{
	size_t before = b->interleavings.count;
	const char *known;

	if (bug_save(b, s->o->out, &s->target, &s->places, &s->err) < 0)
		return -1;
	known = s->o->baseline ? baseline_find(s->o->baseline, b, &s->places) : NULL;
	if (known) {
		tell_known(s, b, known);
	} else if (!s->o->quiet) {
		progress_clear(&s->progress);
		fprintf(stderr, "snarl: run %llu failed: %.*s\n", (unsigned long long)b->failure->run + 1,
			(int)strcspn(b->text, "\n"), b->text);
		tell_proved(b, &s->places);
	}
	followup_compare(u, b);
	followup_gather(u, b);
	if (!s->o->quiet && !known && b->interleavings.count > before)
		fprintf(stderr, "  %zu different orders of its events fail: %s/interleavings\n",
			b->interleavings.count, b->path);
	return update(s, b);
}

/*
 * It need not be looked into: a known bug shows like that, and it was made to fail by what
 * that bug is about; or that was always the case lately.
 */
static bool is_old(struct session *s, const struct search_failure *f)
{
	for (size_t i = 0; i < s->results.count && !s->plain; i++) {
		const struct bug *b = s->results.items[i].bug;

		if (s->results.items[i].proved && bug_shows_as(b, &f->result, &s->places) &&
		    (s->redundant >= REDUNDANT_MOST ||
		     (f->lead && bug_cause(b) && cluster_same(bug_cause(b), f->lead, &s->places))))
			return true;
	}
	return false;
}

enum search_answer session_found(void *ctx, struct search_failure *f)
{
	struct session *s = ctx;
	struct bug *b, *of;
	struct followup_config config;
	struct followup u;
	bool proved, told;
	int code;

	if (is_old(s, f)) {
		search_failure_free(f);
		return SEARCH_MORE;
	}
	b = xcalloc(1, sizeof(*b));
	configure(s, &config);
	followup_open(&u, &config, f);
	proved = followup_prove(&u, b, f, &code, &s->err);
	if (!proved && !s->o->quiet) {
		tell_failure(s, b);
		tell_doubtful(b, &s->err);
	}
	told = !proved || code < 0 || !s->o->suppress ||
	       !suppressed_failure(b, s->o->suppress, &config.attempt.replay, &s->places);
	of = proved ? known(s, b) : NULL;
	if (!told) {
		s->results.suppressed++;
		bug_free(b);
		free(b);
	} else if (code == 0 && of) {
		code = add_to(s, of, b);
	} else {
		if (proved && code == 0)
			code = add_new(s, &u, b);
		if (code < 0)
			tell_failure(s, b);
		test_results_add(&s->results, b, proved);
	}
	followup_close(&u);
	progress_clear(&s->progress);
	s->failed_to_save |= code < 0;
	if (code < 0 || (proved && told && !s->o->keep_going))
		return SEARCH_ENOUGH;
	return proved ? SEARCH_MORE : SEARCH_DOUBT;
}

static void tell_candidates(const struct session *s)
{
	const struct hunt_stats *h = s->hunt;

	if (!h->leads && !s->results.proved)
		fputs("snarl: no candidates\n", stderr);
	else if (h->leads)
		fprintf(stderr, "snarl: %llu candidate%s, %llu tried: %llu made a run fail, %llu harmless, "
			"%llu infeasible, %llu not reached\n", (unsigned long long)h->leads, h->leads == 1 ? "" : "s",
			(unsigned long long)(h->leads - h->left), (unsigned long long)h->proved,
			(unsigned long long)h->harmless, (unsigned long long)h->infeasible,
			(unsigned long long)h->unreached);
	if (h->suppressed)
		fprintf(stderr, "snarl: %llu more candidate%s suppressed\n",
			(unsigned long long)h->suppressed, h->suppressed == 1 ? " is" : "s are");
	if (*h->no_trace)
		fprintf(stderr, "snarl: of a run there is no trace to predict from: %s\n", h->no_trace);
}

static void tell_end(struct session *s)
{
	const struct search_stats *st = &s->stats;

	if (s->o->quiet)
		return;
	if (s->hunt)
		tell_candidates(s);
	fprintf(stderr, "snarl: %llu run%s in %.1f s (%.0f/s), %llu%s interleaving%s, %zu bug%s",
		(unsigned long long)st->runs, plural(st->runs), st->seconds,
		st->seconds > 0 ? (double)st->runs / st->seconds : 0.0,
		(unsigned long long)st->interleavings, st->interleavings == COVERAGE_MAX ? "+" : "",
		plural(st->interleavings), s->results.proved, plural(s->results.proved));
	if (s->results.count > s->results.proved)
		fprintf(stderr, ", %zu failure%s that did not replay", s->results.count - s->results.proved,
			plural(s->results.count - s->results.proved));
	if (s->results.suppressed)
		fprintf(stderr, ", %zu failure%s suppressed", s->results.suppressed,
			plural(s->results.suppressed));
	if (st->cut)
		fprintf(stderr, ", %llu run%s given up after %llu steps", (unsigned long long)st->cut,
			plural(st->cut), (unsigned long long)s->o->max_steps);
	if (st->exhausted)
		fputs(", nothing is left to try", stderr);
	if (st->truncated)
		fputs(", not all could be tried: runs are too long or have too many threads", stderr);
	if (session_interrupted)
		fputs(", interrupted", stderr);
	fputc('\n', stderr);
	if (s->o->baseline)
		baseline_tell(s->o->baseline, stderr);
}

void session_config(struct session *s, struct search_config *out)
{
	const struct explore_options *o = s->o;

	*out = (struct search_config){
		.program = { .server = { .target = &s->target, .backend = o->backend, .exec = o->exec,
					 .timeout = o->timeout, .keep = o->oracle.check ? 64u << 20 : 0 },
			     .oracle = &s->oracle, .places = &s->places },
		.plan = { .seed = o->seed, .flags = o->flags, .max_steps = o->max_steps,
			  .jobs = (unsigned)o->jobs, .keep_going = o->keep_going },
		.budget = { .runs = o->runs, .seconds = o->seconds, .stop = &session_interrupted },
		.stats = &s->stats,
	};
}

struct search_listener session_listener(struct session *s)
{
	return (struct search_listener){ .found = session_found, .progress = session_progress, .ctx = s };
}

int session_end(struct session *s, int result, const struct err *err)
{
	const struct explore_options *o = s->o;
	struct err writing;
	size_t fresh;

	progress_clear(&s->progress);
	if (result < 0 && s->stats.runs == 0)
		return cmd_fail(o->cmd, "%s", err->text);
	if (s->failed_to_save)
		return cmd_fail(o->cmd, "the bug cannot be saved: %s", s->err.text);
	tell_end(s);
	if (test_results_write(&s->results, o->out, &s->target, &s->stats, s->hunt, &s->places,
			       o->json, &writing) < 0 && s->results.proved > 0)
		return cmd_fail(o->cmd, "%s", writing.text);
	if (report_save_index(o->out, &writing) < 0)
		log_warn("no %s/index.html: %s", o->out, writing.text);
	if (result < 0)
		return cmd_fail(o->cmd, "%s", err->text);
	for (size_t i = 0; o->gen_suppressions && i < s->results.count; i++)
		if (s->results.items[i].proved)
			baseline_suppressions(s->results.items[i].bug, &s->places, stdout);
	fresh = o->baseline ? baseline_new(o->baseline) : s->results.proved;
	return cmd_flush(o->cmd, fresh ? CMD_BUG : CMD_OK);
}

int session_open(struct session *s, const struct explore_options *o)
{
	struct err err;

	*s = (struct session){ .o = o, .oracle = o->oracle, .began = attempt_now(),
			       .results = { .baseline = o->baseline } };
	places_init(&s->places);
	if (target_init(&s->target, o->program, o->keep, &err) < 0 ||
	    target_input(&s->target, STDIN_FILENO, &err) < 0)
		return cmd_fail(o->cmd, "%s", err.text);
	s->made_out = access(o->out, F_OK) != 0;
	if (bug_folder(o->out, &err) < 0)	/* now, not when hours have been spent on a bug */
		return cmd_fail(o->cmd, "%s; --out DIR chooses another", err.text);
	heed(SIGINT);
	heed(SIGTERM);
	heed(SIGHUP);
	progress_init(&s->progress, o->quiet, o->runs, o->seconds);
	return CMD_OK;
}

void session_close(struct session *s)
{
	if (s->made_out)
		rmdir(s->o->out);	/* if nothing got into it: the program could not be run */
	test_results_free(&s->results);
	places_free(&s->places);
	target_free(&s->target);
}

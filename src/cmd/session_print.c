/*
 * Messages of a session: progress, each failure when it has been judged, and the summary.
 */
#include "cmd/session_print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/plural.h"
#include "cmd/terminal.h"
#include "explore/bug/finding.h"
#include "explore/results_json.h"
#include "explore/search/uncontrolled.h"
#include "report/format.h"

/* --- during the search --- */

static void on_progress(void *ctx, const struct search_stats *stats, const char *task)
{
	struct session_print *p = ctx;
	const struct hunt_stats *h = p->session.hunt;
	char *note = p->progress.note;
	size_t size = sizeof(p->progress.note);

	if (*task)
		snprintf(note, size, "%s; ", task);
	else if (h)
		snprintf(note, size, "%s, %llu of %llu candidates left, %llu proved; ",
			 hunt_stage_name(h->stage), (unsigned long long)h->left,
			 (unsigned long long)h->leads, (unsigned long long)h->proved);
	progress_show(&p->progress, stats);
	if (*task)
		*note = '\0';
}

/* Prints the brief form of `snarl report`: failure and cause. */
static void print_cause(const struct bug *b, const struct places *places)
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

void session_print_replay(const char *bug)
{
	struct buf line = { 0 };

	buf_add_shell_word(&line, bug);
	fprintf(stderr, "  replay it: snarl replay %s%s\n", *bug == '-' ? "./" : "",
		buf_string(&line));
	buf_free(&line);
}

static void print_every_run(const struct bug *b)
{
	fprintf(stderr,
		"\n  fails in every run (none of %llu passed): this is not about interleaving",
		(unsigned long long)b->every_run);
	if (b->failure->result.failure == ORACLE_EXIT)
		fprintf(stderr, "\n  if exit status %d is right: --expect-exit %d",
			b->failure->result.number, b->failure->result.number);
	fprintf(stderr,
		"\n  the search goes on for other failures; to look for these alone: --ignore %s",
		b->fingerprint);
}

static void print_proved(const struct bug *b, const struct places *places)
{
	const struct minimised *m = &b->minimised;

	print_cause(b, places);
	fprintf(stderr, "  saved as %s, replayed %u of %u time%s", b->path, b->good, b->replays,
		plural(b->replays));
	if (b->replays < b->wanted)
		fprintf(stderr, " (%u would take %.0f s)", b->wanted,
			b->replay_seconds * b->wanted);
	if (m->done)
		fprintf(stderr, ", with %llu switch%s between threads (of %llu)",
			(unsigned long long)m->switches, m->switches == 1 ? "" : "es",
			(unsigned long long)m->from);
	if (b->every_run)
		print_every_run(b);
	if (b->failure->report->threads == 1 &&
	    !uncontrolled_any(&b->failure->report->uncontrolled))
		fputs("\n  only one thread ran, so the schedule is not the cause: check arguments, "
		      "input, files, rights",
		      stderr);
	fprintf(stderr, "\n  look at it: %s/report.html\n", b->path);
	session_print_replay(b->path);
	if (!b->traced)
		fprintf(stderr, "  it has no trace: %s\n", b->no_trace);
}

/* Prints the failure: its first line, or with `all` the whole text. */
static void print_failure(const struct bug *b, bool all)
{
	fprintf(stderr, "snarl: run %llu failed: %.*s\n", (unsigned long long)b->failure->run + 1,
		(int)(all ? strlen(b->text) : strcspn(b->text, "\n")), b->text);
}

static void print_finding(const struct bug *b, struct places *places)
{
	struct buf text = { 0 };

	finding_describe(b, places, &text);
	fprintf(stderr, "  not proved, since it did not replay: %s\n%s", b->why, buf_string(&text));
	buf_free(&text);
}

static void on_judged(void *ctx, const struct verdict *v)
{
	struct session_print *p = ctx;
	const struct bug *b = v->bug;

	progress_clear(&p->progress);
	if (v->kind == VERDICT_UNSAVED)
		print_failure(b, true);
	if (p->o->quiet)
		return;
	switch (v->kind) {
	case VERDICT_UNPROVED:
		print_failure(b, true);
		print_finding(b, &p->session.places);
		break;
	case VERDICT_DUPLICATE:
		print_failure(b, true);
		fprintf(stderr, "  the same cause as %s: saved there as failures/%02zu.txt\n",
			v->of->path, v->of->other_count + 2);
		break;
	case VERDICT_KNOWN:
		fprintf(stderr, "snarl: run %llu failed as %s of the baseline; saved as %s\n",
			(unsigned long long)b->failure->run + 1, v->known_as, b->path);
		break;
	case VERDICT_NEW:
		print_failure(b, false);
		print_proved(b, &p->session.places);
		break;
	case VERDICT_SUPPRESSED: case VERDICT_UNSAVED: break;
	}
}

static void on_inconclusive(void *ctx)
{
	struct session_print *p = ctx;
	const struct session *s = &p->session;

	progress_clear(&p->progress);
	if (p->o->quiet)
		return;
	fprintf(stderr,
		"snarl: run %llu is inconclusive: %s\n  it neither passed nor failed; raise %s, or "
		"give "
		"the program less to do\n",
		(unsigned long long)s->inconclusive.run + 1, s->inconclusive.text,
		s->inconclusive.timed_out ? "--timeout" : "--max-steps");
}

static void on_saved(void *ctx, const struct verdict *v)
{
	struct session_print *p = ctx;
	const struct bug *b = v->of ? v->of : v->bug;
	struct err err;

	if (v->kind == VERDICT_NEW && v->orders && !p->o->quiet)
		fprintf(stderr, "  %zu different orders of its events fail: %s/interleavings\n",
			v->orders, b->path);
	if (report_save_bug(b->path, p->session.places.symbols, &err) < 0)
		log_warn("no %s/report.html: %s", b->path, err.text);
}

enum search_answer session_print_found(void *ctx, struct search_failure *f)
{
	struct session_print *p = ctx;
	enum search_answer answer = session_found(&p->session, f);

	progress_clear(&p->progress);
	return answer;
}

void session_print_progress(void *ctx, const struct search_stats *stats)
{
	on_progress(ctx, stats, "");
}

void session_print_inconclusive(void *ctx, const struct search_failure *f)
{
	struct session_print *p = ctx;

	session_inconclusive(&p->session, f);
}

struct search_listener session_print_listener(struct session_print *p)
{
	return (struct search_listener){ .found = session_print_found,
					 .progress = session_print_progress,
					 .inconclusive = session_print_inconclusive,
					 .ctx = p };
}

/* --- after the search --- */

static void print_candidates(const struct session *s)
{
	const struct hunt_stats *h = s->hunt;

	if (!h->leads && !s->judge.results.proved)
		fputs("snarl: no candidates\n", stderr);
	else if (h->leads)
		fprintf(stderr,
			"snarl: %llu candidate%s, %llu tried: %llu made a run fail, %llu harmless, "
			"%llu infeasible, %llu not reached\n",
			(unsigned long long)h->leads, h->leads == 1 ? "" : "s",
			(unsigned long long)(h->leads - h->left), (unsigned long long)h->proved,
			(unsigned long long)h->harmless, (unsigned long long)h->infeasible,
			(unsigned long long)h->unreached);
	if (session_is_incomplete(s))
		fprintf(stderr,
			"snarl: incomplete: %llu of %llu candidate%s tried; raise --time or "
			"--runs\n",
			(unsigned long long)(h->leads - h->left), (unsigned long long)h->leads,
			plural(h->leads));
	if (h->suppressed)
		fprintf(stderr, "snarl: %llu more candidate%s suppressed\n",
			(unsigned long long)h->suppressed, h->suppressed == 1 ? " is" : "s are");
	if (h->cut)
		fprintf(stderr,
			"snarl: the analysis of %zu run%s was cut short by the time limit: "
			"candidates may be missing\n",
			h->cut, plural(h->cut));
	if (*h->no_trace)
		fprintf(stderr, "snarl: a run has no trace to predict from: %s\n", h->no_trace);
}

static void print_baseline(const struct baseline *l)
{
	const struct baseline_counts c = baseline_count(l);
	const char *id, *words;

	fprintf(stderr, "snarl: compared with %s: %zu new, %zu known, %zu not found again\n",
		c.path, c.fresh, c.known, c.gone);
	for (size_t at = 0; baseline_gone(l, &at, &id, &words);)
		fprintf(stderr, "  not found again: %s, %s\n", id, words);
}

static void print_inconclusive(const struct session *s)
{
	const struct search_stats *st = &s->stats;
	uint64_t limited = st->cut + st->timed_out;

	if (!limited)
		return;
	fprintf(stderr, "snarl: %llu of %llu run%s inconclusive", (unsigned long long)limited,
		(unsigned long long)st->runs, st->runs == 1 ? " is" : "s are");
	if (st->timed_out)
		fprintf(stderr, ": %llu longer than %g s (--timeout)",
			(unsigned long long)st->timed_out, s->config.timeout);
	if (st->cut)
		fprintf(stderr, "%s %llu with more than %llu steps (--max-steps)",
			st->timed_out ? "," : ":", (unsigned long long)st->cut,
			(unsigned long long)s->config.plan.max_steps);
	fputc('\n', stderr);
	if (limited == st->runs)
		fputs("snarl: no run ended, so nothing was tested: raise the limit\n", stderr);
	else if (search_stats_hopeless(st, &s->config.budget))
		fputs("snarl: ended early, since so many runs time out: raise --timeout, or set "
		      "--time\n",
		      stderr);
}

static void print_summary(const struct session *s)
{
	const struct results *r = &s->judge.results;
	const struct search_stats *st = &s->stats;

	if (s->hunt)
		print_candidates(s);
	fprintf(stderr, "snarl: %llu run%s in %.1f s (%.0f/s), %llu%s interleaving%s, %zu bug%s",
		(unsigned long long)st->runs, plural(st->runs), st->seconds,
		st->seconds > 0 ? (double)st->runs / st->seconds : 0.0,
		(unsigned long long)st->interleavings, st->interleavings == COVERAGE_MAX ? "+" : "",
		plural(st->interleavings), r->proved, plural(r->proved));
	if (r->count > r->proved)
		fprintf(stderr, ", %zu failure%s that did not replay", r->count - r->proved,
			plural(r->count - r->proved));
	if (r->suppressed)
		fprintf(stderr, ", %zu failure%s suppressed", r->suppressed,
			plural(r->suppressed));
	if (st->ignored)
		fprintf(stderr, ", %llu with an ignored failure", (unsigned long long)st->ignored);
	if (st->cut + st->timed_out)
		fprintf(stderr, ", %llu inconclusive",
			(unsigned long long)(st->cut + st->timed_out));
	if (st->damaged)
		fprintf(stderr, ", %llu run%s not judged: the program damaged snarl's memory",
			(unsigned long long)st->damaged, plural(st->damaged));
	if (st->exhausted)
		fputs(", nothing is left to try", stderr);
	if (st->truncated)
		fputs(", not all could be tried: runs are too long or have too many threads",
		      stderr);
	if (interrupt_stop.signal)
		fputs(", interrupted", stderr);
	fputc('\n', stderr);
	print_inconclusive(s);
	if (!st->runs && deadline_left(&s->config.budget.deadline) <= 0 && !interrupt_stop.signal)
		fputs("snarl: not one run ended within --time\n", stderr);
	if (s->judge.baseline)
		print_baseline(s->judge.baseline);
}

/* A line for each kind of threads and processes that no schedule decided about. */
static void print_uncontrolled(const struct session *s)
{
	struct buf text = { 0 };

	uncontrolled_describe(&s->stats.uncontrolled, s->judge.places, "snarl: ", &text);
	fputs(buf_string(&text), stderr);
	buf_free(&text);
}

static void print_suppressions(const struct session *s)
{
	const struct results *r = &s->judge.results;
	struct buf text = { 0 };

	for (size_t i = 0; i < r->count; i++)
		if (r->items[i].proved)
			baseline_suppressions(r->items[i].bug, s->judge.places, &text);
	fwrite(text.data, 1, text.size, stdout);
	buf_free(&text);
}

static int write_results(const struct session_print *p, struct err *err)
{
	struct buf text = { 0 };
	int result;

	results_json(&p->session, &text);
	if (p->o->json)
		fwrite(text.data, 1, text.size, stdout);
	result = results_save(&text, p->o->out, err);
	buf_free(&text);
	return result;
}

int session_print_end(struct session_print *p, int result, const struct err *err)
{
	const struct explore_options *o = p->o;
	const struct session *s = &p->session;
	size_t fresh = s->judge.results.proved;
	struct err writing;

	interrupt_finish();
	progress_clear(&p->progress);
	uncontrolled_settle(&p->session.stats.uncontrolled, s->judge.places);
	/* A stage may have failed only because its time was up. */
	if (interrupt_stop.signal ||
	    (s->stats.runs && deadline_left(&s->config.budget.deadline) <= 0))
		result = 0;
	if (result < 0 && s->stats.runs == 0)
		return cmd_fail(o->cmd, "%s", err->text);
	if (s->failed_to_save)
		return cmd_fail(o->cmd, "the bug cannot be saved: %s", s->err.text);
	if (!o->quiet)
		print_summary(s);
	if (!o->quiet || o->require_controlled)
		print_uncontrolled(s);
	if (write_results(p, &writing) < 0 && fresh > 0)
		return cmd_fail(o->cmd, "%s", writing.text);
	if (report_save_index(o->out, &writing) < 0)
		log_warn("no %s/index.html: %s", o->out, writing.text);
	if (result < 0)
		return cmd_fail(o->cmd, "%s", err->text);
	if (o->gen_suppressions)
		print_suppressions(s);
	if (o->baseline)
		fresh = baseline_count(o->baseline).fresh;
	if (!fresh && o->require_controlled && uncontrolled_any(&s->stats.uncontrolled))
		return cmd_fail(o->cmd, "not everything was controlled, as --require controlled "
				"asks for");
	if (fresh || s->stats.damaged)
		return interrupt_exit(cmd_flush(o->cmd, fresh ? CMD_BUG : CMD_FAILED));
	return interrupt_exit(cmd_flush(o->cmd, s->judge.results.count > s->judge.results.proved ?
							CMD_UNPROVED : CMD_OK));
}

/* --- before the search --- */

static struct session_config config_of(const struct explore_options *o, struct session_print *p)
{
	return (struct session_config){
		.program = o->program,
		.environment = o->keep,
		.out = o->out,
		.backend = o->backend,
		.exec = o->exec,
		.timeout = o->timeout,
		.oracle = o->oracle,
		.plan = { .seed = o->seed,
			  .flags = o->flags,
			  .max_steps = o->max_steps,
			  .jobs = (unsigned)o->jobs,
			  .keep_going = o->keep_going },
		.budget = { .runs = o->runs },
		.seconds = o->seconds,
		.stop = &interrupt_stop,
		.replays = (unsigned)o->replays,
		.minimise = !o->no_minimise,
		.baseline = o->baseline,
		.suppress = o->suppress,
		.ignore = o->ignore,
		.events = { .judged = on_judged,
			    .saved = on_saved,
			    .inconclusive = on_inconclusive,
			    .progress = on_progress,
			    .ctx = p },
	};
}

int session_print_open(struct session_print *p, const struct explore_options *o, bool separate)
{
	struct session_config config = config_of(o, p);
	struct err err;

	*p = (struct session_print){ .o = o };
	config.separate = separate;
	if (session_open(&p->session, &config, &err) < 0)
		return cmd_fail(o->cmd, "%s", err.text);
	if (session_make_folder(&p->session, &err) < 0)
		return cmd_fail(o->cmd, "%s; --out DIR chooses another", err.text);
	interrupt_handle();
	progress_init(&p->progress, o->quiet, o->runs, o->seconds);
	return CMD_OK;
}

void session_print_close(struct session_print *p)
{
	session_close(&p->session);
}

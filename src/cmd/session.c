#include "cmd/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/suppressed.h"

volatile sig_atomic_t session_interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	session_interrupted = 1;
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

static void tell_cause(const struct bug *b, struct places *places)
{
	struct buf text = { 0 };

	if (!bug_cause(b))
		return;
	lead_describe(bug_cause(b), places, &text);
	fprintf(stderr, "  %s: ", b->failure->lead ? "cause" : "likely cause");
	for (const char *p = buf_string(&text); *p; p++) {
		fputc(*p, stderr);
		if (*p == '\n' && p[1])
			fputs("  ", stderr);
	}
	buf_free(&text);
}

static void tell_bug(struct session *s, const struct bug *b, bool proved)
{
	if (s->o->quiet)
		return;
	fprintf(stderr, "snarl: run %llu failed: %s\n", (unsigned long long)b->failure->run + 1,
		b->text);
	if (proved) {
		tell_cause(b, &s->places);
		fprintf(stderr, "  saved as %s, replayed %u of %u times\n", b->path, b->good, b->replays);
		fprintf(stderr, "  replay it: snarl replay %s\n", b->path);
		if (!b->traced)
			fprintf(stderr, "  it has no trace: %s\n", b->no_trace);
	} else {
		fprintf(stderr, "  a candidate only, it did not replay: %s\n",
			*b->why ? b->why : s->err.text);
		if (b->path)
			fprintf(stderr, "  its schedule: %s/schedule.txt\n", b->path);
	}
}

bool session_found(void *ctx, struct search_failure *f)
{
	struct session *s = ctx;
	const struct explore_options *o = s->o;
	struct replay_config config = { .target = &s->target, .backend = o->backend,
					.exec = s->stats.exec, .timeout = o->timeout, .max_steps = o->max_steps };
	struct bug *b = xcalloc(1, sizeof(*b));
	bool proved;

	progress_clear(&s->progress);
	bug_init(b, f, &s->places);
	if (s->hunter) {
		b->explain = hunt_explain;
		b->explain_ctx = s->hunter;
	}
	proved = bug_prove(b, &config, (unsigned)o->replays, &s->places, &s->err);
	if (proved && o->suppress && suppressed_failure(b, o->suppress, &config, &s->places)) {
		s->results.suppressed++;
		bug_free(b);
		free(b);
		return true;
	}
	if (proved && bug_save(b, o->out, &config, &s->places, &s->err) < 0) {
		s->failed_to_save = true;
		fprintf(stderr, "snarl: run %llu failed: %s\n", (unsigned long long)f->run + 1, b->text);
		bug_free(b);
		free(b);
		return false;
	}
	tell_bug(s, b, proved);
	test_results_add(&s->results, b, proved);
	return o->keep_going || !proved;
}

static void tell_candidates(const struct hunt_stats *h)
{
	fprintf(stderr, "snarl: %llu candidates, %llu tried: %llu proved, %llu harmless, "
		"%llu infeasible, %llu not reached\n", (unsigned long long)h->leads,
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
		tell_candidates(s->hunt);
	fprintf(stderr, "snarl: %llu runs in %.1f s (%.0f/s), %llu%s interleavings, %zu bug%s",
		(unsigned long long)st->runs, st->seconds,
		st->seconds > 0 ? (double)st->runs / st->seconds : 0.0,
		(unsigned long long)st->interleavings, st->interleavings == COVERAGE_MAX ? "+" : "",
		s->results.proved, s->results.proved == 1 ? "" : "s");
	if (s->results.count > s->results.proved)
		fprintf(stderr, ", %zu failures that did not replay",
			s->results.count - s->results.proved);
	if (s->results.suppressed)
		fprintf(stderr, ", %zu failure%s suppressed", s->results.suppressed,
			s->results.suppressed == 1 ? "" : "s");
	if (st->cut)
		fprintf(stderr, ", %llu runs given up after %llu steps", (unsigned long long)st->cut,
			(unsigned long long)s->o->max_steps);
	if (st->exhausted)
		fputs(", nothing is left to try", stderr);
	if (st->truncated)
		fputs(", not all could be tried: runs are too long or have too many threads", stderr);
	if (session_interrupted)
		fputs(", interrupted", stderr);
	fputc('\n', stderr);
}

void session_config(struct session *s, struct search_config *out)
{
	const struct explore_options *o = s->o;

	*out = (struct search_config){
		.server = { .target = &s->target, .backend = o->backend, .exec = o->exec,
			    .timeout = o->timeout, .keep = o->oracle.check ? 64u << 20 : 0 },
		.oracle = &s->oracle, .seed = o->seed, .runs = o->runs,
		.flags = o->flags, .max_steps = o->max_steps, .seconds = o->seconds,
		.jobs = (unsigned)o->jobs, .keep_going = o->keep_going, .stop = &session_interrupted,
		.progress = session_progress, .found = session_found, .ctx = s,
	};
}

int session_end(struct session *s, int result, const struct err *err)
{
	const struct explore_options *o = s->o;
	struct err writing;

	progress_clear(&s->progress);
	if (result < 0 && s->stats.runs == 0)
		return cmd_fail(o->cmd, "%s", err->text);
	if (s->failed_to_save)
		return cmd_fail(o->cmd, "the bug cannot be saved: %s", s->err.text);
	tell_end(s);
	if (test_results_write(&s->results, o->out, &s->target, &s->stats, s->hunt, &s->places,
			       o->json, &writing) < 0 && s->results.proved > 0)
		return cmd_fail(o->cmd, "%s", writing.text);
	if (result < 0)
		return cmd_fail(o->cmd, "%s", err->text);
	return cmd_flush(o->cmd, s->results.proved ? CMD_BUG : CMD_OK);
}

int session_open(struct session *s, const struct explore_options *o)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	struct err err;

	*s = (struct session){ .o = o, .oracle = o->oracle };
	places_init(&s->places);
	if (target_init(&s->target, o->program, o->keep, &err) < 0 ||
	    target_input(&s->target, STDIN_FILENO, &err) < 0)
		return cmd_fail(o->cmd, "%s", err.text);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	progress_init(&s->progress, o->quiet, o->runs, o->seconds);
	return CMD_OK;
}

void session_close(struct session *s)
{
	test_results_free(&s->results);
	places_free(&s->places);
	target_free(&s->target);
}

#include "explore/bug.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/replay_trace.h"
#include "trace/kinds.h"

#define BUGS_MAX 100000
#define TRACE_STEPS_MAX 10000000u	/* of a run that is recorded unasked */

static char *in_words(const struct search_failure *f, struct places *places)
{
	struct buf text = { 0 };
	char *result;

	oracle_describe(&f->result, f->report, places, &text);
	result = xstrdup(buf_string(&text));
	buf_free(&text);
	return result;
}

void bug_init(struct bug *b, struct search_failure *f, struct places *places)
{
	*b = (struct bug){ .failure = f, .text = in_words(f, places) };
}

void bug_free(struct bug *b)
{
	search_failure_free(b->failure);
	lead_free(b->cause);
	free(b->text);
	free(b->path);
}

const struct lead *bug_cause(const struct bug *b)
{
	return b->failure->lead ? b->failure->lead : b->cause;
}

static void note_difference(struct bug *b, const struct oracle_result *got)
{
	struct buf brief = { 0 };

	oracle_brief(got, &brief);
	switch (got->verdict) {
	case ORACLE_PASSED: snprintf(b->why, sizeof(b->why), "a replay passed"); break;
	case ORACLE_FAILED:
		snprintf(b->why, sizeof(b->why), "a replay failed in another way: %.100s",
			 buf_string(&brief));
		break;
	case ORACLE_CUT: snprintf(b->why, sizeof(b->why), "a replay took too many steps"); break;
	case ORACLE_DIVERGED:
		snprintf(b->why, sizeof(b->why), "a replay diverged at turn %llu: %.150s",
			 (unsigned long long)got->turn + 1, got->text);
		break;
	case ORACLE_BROKEN: snprintf(b->why, sizeof(b->why), "%.200s", got->text); break;
	}
	buf_free(&brief);
}

bool bug_prove(struct bug *b, const struct replay_config *config, unsigned times,
	       const struct places *places, struct err *err)
{
	struct schedule *s = &b->failure->schedule;
	struct oracle expect;
	struct oracle_result got;
	struct replay replay;

	*err = (struct err){ "" };
	oracle_from(&expect, s);
	if (replay_open(&replay, config, s, err) < 0) {
		replay_close(&replay);
		return false;
	}
	for (; b->replays < times; b->replays++) {
		if (replay_once(&replay, s, places, &expect, &got, err) < 0)
			break;
		if (got.verdict != ORACLE_FAILED || !replay_same(s, &got)) {
			note_difference(b, &got);
			continue;
		}
		b->good++;
		if (b->replays > 0)
			continue;
		schedule_set_turns(s, replay.server.block);
		if (schedule_plan_size(s) <= replay.server.block->plan_size)
			continue;
		replay_close(&replay);	/* with its checks it needs more room */
		if (replay_open(&replay, config, s, err) < 0)
			break;
	}
	replay_close(&replay);
	return b->good == times;
}

static int make_folder(const char *path, struct err *err)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return err_set(err, "cannot make the folder %s: %s", path, strerror(errno));
}

/* The next free number. */
static int take_folder(struct bug *b, const char *out, struct err *err)
{
	char *bugs = xasprintf("%s/bugs", out);
	int result = make_folder(out, err) < 0 ? -1 : make_folder(bugs, err);

	for (int i = 1; result == 0 && i < BUGS_MAX; i++) {
		snprintf(b->id, sizeof(b->id), "B%03d", i);
		b->path = xasprintf("%s/%s", bugs, b->id);
		if (mkdir(b->path, 0777) == 0)
			break;
		if (errno != EEXIST)
			result = err_set(err, "cannot make the folder %s: %s", b->path, strerror(errno));
		free(b->path);
		b->path = NULL;
	}
	free(bugs);
	return result < 0 || b->path ? result : err_set(err, "%s/bugs is full", out);
}

static int write_file(const char *folder, const char *name, const struct buf *text, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");
	bool ok = f && fwrite(text->data, 1, text->size, f) == text->size;

	ok = (!f || fclose(f) == 0) && ok;
	if (!ok)
		err_set(err, "cannot write %s: %s", path, strerror(errno));
	free(path);
	return ok ? 0 : -1;
}

static int copy_input(const struct bug *b, const struct target *t, struct err *err)
{
	char *path = xasprintf("%s/stdin", b->path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), result = 0;
	off_t at = 0;

	while (fd >= 0 && (uint64_t)at < t->input_size)
		if (sendfile(fd, t->input, &at, (size_t)(t->input_size - (uint64_t)at)) <= 0)
			break;
	if (fd < 0 || close(fd) < 0 || (uint64_t)at < t->input_size)
		result = err_set(err, "cannot write %s: %s", path, strerror(errno));
	free(path);
	return result;
}

static void site_json(const struct oracle_site *site, const struct ctl_report *report,
		      struct json *j, struct places *places)
{
	struct buf thread = { 0 }, object = { 0 };
	struct symbol_frame frame;

	json_open(j, NULL, '{');
	if (site->thread != UINT32_MAX) {
		schedule_path(report, site->thread, &thread);
		json_text(j, "thread", buf_string(&thread));
	} else {
		json_text(j, "thread", NULL);
	}
	places_frame(places, site->pc, &frame);
	json_text(j, "function", frame.function);
	json_text(j, "file", frame.file);
	json_number(j, "line", frame.line);
	json_text(j, "op", site->op);
	if (site->object) {
		places_object(places, site->object, &object);
		json_text(j, "object", buf_string(&object));
	}
	json_close(j, '}');
	buf_free(&thread);
	buf_free(&object);
}

static void event_json(const struct lead *lead, unsigned which, struct json *j, struct places *places)
{
	const struct lead_event *e = &lead->event[which];
	struct symbol_frame frame;

	json_open(j, NULL, '{');
	json_text(j, "thread", e->thread);
	places_frame(places, lead->c.event[which].pc, &frame);
	json_text(j, "function", frame.function);
	json_text(j, "file", frame.file);
	json_number(j, "line", frame.line);
	json_text(j, "op", kind_name(lead->c.event[which].kind));
	json_text(j, "object", e->object);
	json_text(j, "locks", e->locks);
	json_close(j, '}');
}

/* "PROGRAM: FILE:LINE: FUNCTION: Assertion …" of the C library says where it was. */
static void assert_json(const struct search_failure *f, struct json *j)
{
	const char *file = strstr(f->result.text, ": "), *end = strstr(f->result.text, ": Assertion `");
	const char *function, *colon;
	struct buf thread = { 0 };
	char *text;

	file = file ? file + 2 : NULL;
	function = file ? strstr(file, ": ") : NULL;
	if (!end || !function || function >= end)
		return;
	for (colon = function - 1; colon > file && *colon != ':'; colon--)
		;
	if (colon == file)
		return;
	json_open(j, NULL, '{');
	schedule_path(f->report, f->result.thread, &thread);
	json_text(j, "thread", buf_string(&thread));
	text = xstrndup(function + 2, (size_t)(end - function) - 2);
	json_text(j, "function", text);
	free(text);
	text = xstrndup(file, (size_t)(colon - file));
	json_text(j, "file", text);
	free(text);
	json_number(j, "line", strtoul(colon + 1, NULL, 10));
	json_text(j, "op", "assert");
	json_close(j, '}');
	buf_free(&thread);
}

void bug_json(const struct bug *b, struct json *j, const char *folder, struct places *places)
{
	const struct search_failure *f = b->failure;
	const struct lead *lead = bug_cause(b);
	uint8_t events[CANDIDATE_EVENTS];
	size_t count = lead ? lead_events(lead, events) : 0;
	struct buf object = { 0 };
	char *schedule, *trace;

	json_text(j, "id", b->id);
	json_text(j, "class", lead ? lead_class(lead) : oracle_class(f->result.failure));
	json_text(j, "pattern", lead ? lead->c.pattern : NULL);
	json_text(j, "failure", oracle_failure_name(f->result.failure));
	if (f->result.failure == ORACLE_SIGNAL || f->result.failure == ORACLE_EXIT)
		json_number(j, "number", (uint64_t)f->result.number);
	json_text(j, "text", b->text);
	json_number(j, "runs_to_first", f->run + 1);
	json_open(j, "sites", '[');
	for (size_t i = 0; i < count; i++)
		event_json(lead, events[i], j, places);
	if (f->result.failure == ORACLE_ASSERT)
		assert_json(f, j);
	for (size_t i = 0; i < f->result.site_count; i++)
		site_json(&f->result.sites[i], f->report, j, places);
	json_close(j, ']');
	if (lead) {
		json_text(j, "variable", lead->event[0].object);
	} else if (f->report->object && f->result.site_count &&
	    (f->result.failure != ORACLE_SIGNAL || places_knows(places, f->report->object))) {
		places_object(places, f->report->object, &object);
		json_text(j, "variable", buf_string(&object));
		buf_free(&object);
	} else {
		json_text(j, "variable", NULL);
	}
	json_text(j, "cause", f->lead ? "predicted" : lead ? "seen" : NULL);
	json_open(j, "interleavings", '[');
	json_close(j, ']');
	schedule = xasprintf("%s%s", folder, "schedule.txt");
	json_text(j, "schedule", schedule);
	free(schedule);
	trace = xasprintf("%strace.snarl", folder);
	json_text(j, "trace", b->traced ? trace : NULL);
	free(trace);
	json_text(j, "strategy", f->schedule.strategy);
	json_number(j, "seed", f->schedule.seed);
	json_number(j, "steps", f->schedule.steps);
	json_open(j, "replays", '[');
	json_number(j, NULL, b->good);
	json_number(j, NULL, b->replays);
	json_close(j, ']');
}

static int write_json(const struct bug *b, struct places *places, struct err *err)
{
	struct buf text = { 0 };
	struct json j = { .out = &text };
	int result;

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_text(&j, "program", b->failure->schedule.program);
	json_open(&j, "arguments", '[');
	for (size_t i = 0; i < b->failure->schedule.arguments.count; i++)
		json_text(&j, NULL, b->failure->schedule.arguments.items[i]);
	json_close(&j, ']');
	bug_json(b, &j, "", places);
	json_close(&j, '}');
	buf_add_char(&text, '\n');
	result = write_file(b->path, "bug.json", &text, err);
	buf_free(&text);
	return result;
}

static int write_report(const struct bug *b, struct places *places, struct err *err)
{
	const struct search_failure *f = b->failure;
	struct buf text = { 0 };
	int result;

	buf_addf(&text, "%s: %s\n\n", f->schedule.program, b->text);
	if (bug_cause(b)) {
		buf_addf(&text, "%s: ", f->lead ? "cause" : "likely cause");
		lead_describe(bug_cause(b), places, &text);
		buf_add_char(&text, '\n');
	}
	buf_addf(&text, "found by %s in run %llu (seed %llu), after %llu steps of %u threads\n",
		 f->schedule.strategy, (unsigned long long)f->run + 1,
		 (unsigned long long)f->schedule.seed, (unsigned long long)f->schedule.steps,
		 f->report->threads);
	buf_addf(&text, "replayed: %u of %u times\n", b->good, b->replays);
	buf_addf(&text, "replay:   snarl replay %s\n", b->path);
	if (b->traced)
		buf_addf(&text, "trace:    snarl dump %s/trace.snarl\n", b->path);
	else
		buf_addf(&text, "no trace: %s\n", b->no_trace);
	if (f->out.size) {
		buf_add_text(&text, "\n--- stdout of the run ---\n");
		buf_add(&text, f->out.data, f->out.size);
	}
	if (f->error.size) {
		buf_add_text(&text, "\n--- stderr of the run ---\n");
		buf_add(&text, f->error.data, f->error.size);
	}
	result = write_file(b->path, "report.txt", &text, err);
	buf_free(&text);
	return result;
}

static void record(struct bug *b, const struct replay_config *config, const struct places *places)
{
	const struct schedule *s = &b->failure->schedule;
	char *path = xasprintf("%s/trace.snarl", b->path);
	struct err err = { "" };

	if (b->failure->result.failure == ORACLE_TIMEOUT || b->failure->result.failure == ORACLE_BOMB)
		err_set(&err, "the run comes to no end of its own");
	else if (s->steps > TRACE_STEPS_MAX)
		err_set(&err, "more than %u steps", TRACE_STEPS_MAX);
	else
		b->traced = replay_record(config, s, places, path, &err) == 0;
	snprintf(b->no_trace, sizeof(b->no_trace), "%.250s", err.text);
	if (b->traced && b->explain && !b->failure->lead && !b->cause)
		b->cause = b->explain(b->explain_ctx, b->failure, path);
	free(path);
}

int bug_save(struct bug *b, const char *out, const struct replay_config *config,
	     struct places *places, struct err *err)
{
	const struct target *target = config->target;
	char *schedule;
	int result = 0;

	if (take_folder(b, out, err) < 0)
		return -1;
	schedule = xasprintf("%s/schedule.txt", b->path);
	if (target->input >= 0)
		result = copy_input(b, target, err);
	if (result == 0)
		record(b, config, places);
	/* Whether it was predicted or seen: what has to be asked again when the program is mended. */
	if (result == 0 && b->cause)
		lead_goals(b->cause, places, &b->failure->schedule);
	if (result == 0)
		result = schedule_write(&b->failure->schedule, schedule, err);
	free(schedule);
	if (result == 0)
		result = write_json(b, places, err);
	return result < 0 ? -1 : write_report(b, places, err);
}

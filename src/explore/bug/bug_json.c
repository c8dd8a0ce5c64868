/*
 * Writes a bug as JSON (docs/test.md, docs/hunt.md).
 *
 * Sites of the cause identify their events in the traces of the bug. `index` is the number of
 * events that the thread has before this one in trace.snarl. It counts calls and returns, not
 * `value` events; null: the run did not reach the event. `pending` is true if the thread waits in
 * the event for ever, or if the event is the failure. `passing_index` is the index in
 * passing.snarl; it is missing if that run did not reach the event. Without trace.snarl there are
 * no indexes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore/bug/bug.h"
#include "trace/read/kinds.h"

/*
 * True if the run ended before the operations at the sites of its failure, as in a deadlock. The
 * operation that crashed is in the trace.
 */
static bool is_stopped(const struct oracle_result *r)
{
	return r->failure != ORACLE_SIGNAL && r->failure != ORACLE_ASSERT;
}

static void site_json(const struct oracle_site *site, bool stopped, const struct ctl_report *report,
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
	if (stopped && site->thread != UINT32_MAX)
		json_bool(j, "pending", true);
	json_close(j, '}');
	buf_free(&thread);
	buf_free(&object);
}

/* True if the failure stopped the thread of an event at the site of the event. */
static bool is_stopped_at(const struct bug *b, const struct lead *lead, unsigned which)
{
	const struct oracle_result *r = &b->failure->result;
	bool found = false;

	for (size_t i = 0; is_stopped(r) && i < r->site_count && !found; i++) {
		struct buf thread = { 0 };

		schedule_path(b->failure->report, r->sites[i].thread, &thread);
		found = r->sites[i].thread != UINT32_MAX &&
			r->sites[i].pc == lead->c.event[which].pc &&
			strcmp(buf_string(&thread), lead->event[which].thread) == 0;
		buf_free(&thread);
	}
	return found;
}

/*
 * True if the thread of an event waits in it for ever, or if the event is the failure, so that the
 * trace does not have it. A spinning thread has several events at the site; the last is pending.
 */
static bool is_pending(const struct bug *b, const struct lead *lead, unsigned which)
{
	const struct candidate_event *e = lead->c.event;

	if (!is_stopped_at(b, lead, which) ||
	    (b->index[which] != LEAD_NO_EVENT && b->failure->result.failure != ORACLE_HANG))
		return false;
	for (unsigned i = 0; i < lead->c.events; i++)
		if (e[i].pc == e[which].pc && e[i].thread == e[which].thread &&
		    e[i].nth > e[which].nth)
			return false;
	return true;
}

/* Writes the members that identify an event in the traces of the bug. */
static void identity_json(const struct bug *b, const struct lead *lead, unsigned which,
			  struct json *j)
{
	bool pending = is_pending(b, lead, which);

	if (b->index[which] != LEAD_NO_EVENT && !pending)
		json_number(j, "index", b->index[which]);
	else if (b->traced)
		json_text(j, "index", NULL);
	if (pending)
		json_bool(j, "pending", true);
	if (b->passing_index[which] != LEAD_NO_EVENT)
		json_number(j, "passing_index", b->passing_index[which]);
}

/* Writes an event. `b`: the bug whose traces have it; NULL: the run has no trace. */
static void event_json(const struct bug *b, const struct lead *lead, unsigned which, struct json *j,
		       struct places *places)
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
	if (b)
		identity_json(b, lead, which, j);
	json_close(j, '}');
}

/* Writes the site of a failed assertion, from "PROGRAM: FILE:LINE: FUNCTION: Assertion ...". */
static void assert_json(const struct search_failure *f, struct json *j)
{
	const char *file = strstr(f->result.text, ": "),
		   *end = strstr(f->result.text, ": Assertion `");
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

static void failure_json(const struct search_failure *f, const char *text, struct json *j)
{
	json_text(j, "failure", oracle_failure_name(f->result.failure));
	if (f->result.failure == ORACLE_SIGNAL || f->result.failure == ORACLE_EXIT)
		json_number(j, "number", (uint64_t)f->result.number);
	json_text(j, "text", text);
	json_number(j, "runs_to_first", f->run + 1);
}

static void minimised_json(const struct minimised *m, unsigned goal_runs, struct json *j)
{
	if (!m->done) {
		json_text(j, "minimised", NULL);
		return;
	}
	json_number(j, "switches", m->switches);
	json_number(j, "preemptions", m->preemptions);
	json_open(j, "minimised", '{');
	json_number(j, "from", m->from);
	json_number(j, "runs", m->runs + goal_runs);
	json_close(j, '}');
}

static void replays_json(unsigned good, unsigned made, struct json *j)
{
	json_open(j, "replays", '[');
	json_number(j, NULL, good);
	json_number(j, NULL, made);
	json_close(j, ']');
}

/* Writes the path of a numbered schedule: "bugs/B001/interleavings/01.txt". */
static void file_json(struct json *j, const char *key, const char *folder, const char *in,
		      size_t number)
{
	char *path = xasprintf("%s%s/%02zu.txt", folder, in, number);

	json_text(j, key, path);
	free(path);
}

static void events_json(const struct bug *b, const struct lead *lead, struct json *j,
			struct places *places)
{
	uint8_t events[CANDIDATE_EVENTS];
	size_t count = lead ? lead_events(lead, events) : 0;

	for (size_t i = 0; i < count; i++)
		event_json(b, lead, events[i], j, places);
}

static void interleaving_json(const struct bug *b, size_t number, struct json *j,
			      const char *folder, struct places *places)
{
	const struct interleaving *i = &b->interleavings.at[number];
	const struct search_failure *f = i->failure ? i->failure : b->failure;

	json_open(j, NULL, '{');
	json_text(j, "class", lead_class(i->lead));
	json_text(j, "pattern", pattern_row(i->lead->c.pattern)->name);
	json_text(j, "variable", i->lead->event[0].object);
	json_open(j, "events", '[');
	events_json(NULL, i->lead, j, places);
	json_close(j, ']');
	json_text(j, "failure", oracle_failure_name(f->result.failure));
	if (i->failure ? i->minimised.done : b->minimised.done)
		json_number(j, "switches",
			    i->failure ? i->minimised.switches : b->minimised.switches);
	json_number(j, "goals", f->schedule.goal_count);
	file_json(j, "schedule", folder, "interleavings", number + 1);
	replays_json(i->failure ? i->good : b->good, i->failure ? i->replays : b->replays, j);
	json_close(j, '}');
}

static void interleavings_json(const struct bug *b, struct json *j, const char *folder,
			       struct places *places)
{
	json_open(j, "interleavings", '[');
	for (size_t i = 0; i < b->interleavings.count; i++)
		interleaving_json(b, i, j, folder, places);
	json_close(j, ']');
	json_open(j, "gathered", '{');
	json_number(j, "tried", b->interleavings.tried);
	json_number(j, "runs", b->interleavings.runs);
	json_close(j, '}');
}

/* Writes all failures with this cause, the bug's own first. */
static void failures_json(const struct bug *b, struct json *j, const char *folder)
{
	char *own = xasprintf("%sschedule.txt", folder);

	json_open(j, "failures", '[');
	for (size_t i = 0; i <= b->other_count; i++) {
		const struct bug *o = i ? b->others[i - 1] : b;
		const struct lead *lead = bug_cause(o);

		json_open(j, NULL, '{');
		failure_json(o->failure, o->text, j);
		json_text(j, "pattern", lead ? pattern_row(lead->c.pattern)->name : NULL);
		if (o->minimised.done)
			json_number(j, "switches", o->minimised.switches);
		if (i)
			file_json(j, "schedule", folder, "failures", i + 1);
		else
			json_text(j, "schedule", own);
		replays_json(o->good, o->replays, j);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(own);
}

static void variable_json(const struct bug *b, struct json *j, struct places *places)
{
	const struct search_failure *f = b->failure;
	const struct lead *lead = bug_cause(b);
	struct buf object = { 0 };

	if (lead) {
		json_text(j, "variable", lead->event[0].object);
	} else if (f->report->object && f->result.site_count &&
		   (f->result.failure != ORACLE_SIGNAL ||
		    places_knows(places, f->report->object))) {
		places_object(places, f->report->object, &object);
		json_text(j, "variable", buf_string(&object));
		buf_free(&object);
	} else {
		json_text(j, "variable", NULL);
	}
}

static void passing_event_json(const struct passing_event *e, const char *key, struct json *j)
{
	if (!e->present) {
		json_text(j, key, NULL);
		return;
	}
	json_open(j, key, '{');
	json_text(j, "thread", e->thread);
	json_text(j, "function", e->function);
	json_text(j, "file", e->file);
	json_number(j, "line", e->line);
	json_text(j, "op", e->op);
	json_text(j, "object", e->object);
	json_close(j, '}');
}

static void passing_json(const struct passing *p, struct json *j, const char *folder)
{
	char *schedule = xasprintf("%spassing.txt", folder),
	     *trace = xasprintf("%spassing.snarl", folder);

	if (p->found) {
		json_open(j, "passing", '{');
		json_text(j, "schedule", schedule);
		json_text(j, "trace", p->traced ? trace : NULL);
		replays_json(p->replays, p->replays, j);
		json_number(j, "runs", p->runs);
		if (p->differs) {
			json_open(j, "first_difference", '{');
			json_number(j, "event", p->event);
			passing_event_json(&p->in_failing, "failing", j);
			passing_event_json(&p->in_passing, "passing", j);
			json_close(j, '}');
		} else {
			json_text(j, "first_difference", NULL);
		}
		json_close(j, '}');
	} else {
		json_text(j, "passing", NULL);
	}
	free(schedule);
	free(trace);
}

void bug_json(const struct bug *b, struct json *j, const char *folder, struct places *places)
{
	const struct search_failure *f = b->failure;
	const struct lead *lead = bug_cause(b);
	char *schedule = xasprintf("%sschedule.txt", folder),
	     *trace = xasprintf("%strace.snarl", folder);

	json_text(j, "id", b->id);
	json_text(j, "class", lead ? lead_class(lead) : oracle_class(f->result.failure));
	json_text(j, "pattern", lead ? pattern_row(lead->c.pattern)->name : NULL);
	failure_json(f, b->text, j);
	json_text(j, "fingerprint", b->fingerprint);
	json_bool(j, "every_run", b->every_run > 0);
	json_open(j, "sites", '[');
	events_json(b, lead, j, places);
	if (f->result.failure == ORACLE_ASSERT)
		assert_json(f, j);
	for (size_t i = 0; i < f->result.site_count; i++)
		site_json(&f->result.sites[i], is_stopped(&f->result), f->report, j, places);
	json_close(j, ']');
	variable_json(b, j, places);
	json_text(j, "cause", bug_is_predicted(b) ? "predicted" : lead ? "seen" : NULL);
	interleavings_json(b, j, folder, places);
	failures_json(b, j, folder);
	json_text(j, "schedule", schedule);
	json_text(j, "trace", b->traced ? trace : NULL);
	json_text(j, "strategy", f->schedule.strategy);
	json_number(j, "seed", f->schedule.seed);
	json_number(j, "steps", f->schedule.steps);
	passing_json(&b->passing, j, folder);
	minimised_json(&b->minimised, b->goal_runs, j);
	replays_json(b->good, b->replays, j);
	free(schedule);
	free(trace);
}

/*
 * SARIF 2.1.0: a rule for each kind of bug, a result for each bug. The interleaving is a code flow
 * with a thread flow for each thread of the program.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/version.h"
#include "explore/bug/identity.h"
#include "report/describe.h"
#include "report/format.h"
#include "report/uri.h"

#define ROOT "SRCROOT"	/* the uriBaseId of the working folder */

struct sarif {
	struct json j;
	char *folder;		/* the working folder */
	bool compared;		/* the hunt had a baseline */
	struct buf text;	/* scratch; empty between uses */
	char **rules;		/* ids of the rules written so far */
	size_t rule_count, rule_capacity;
};

/*
 * Writes a message and clears `text`. In messages "[a](b)" is a link and "{0}" a placeholder, which
 * text of the program must not become: "](" gets a blank in between, and braces are doubled.
 */
static void put_message(struct sarif *s, const char *key, struct buf *text)
{
	struct buf safe = { 0 };

	for (const char *p = buf_string(text); *p; p++) {
		buf_add_char(&safe, *p);
		if (*p == '{' || *p == '}')
			buf_add_char(&safe, *p);
		else if (p[0] == ']' && p[1] == '(')
			buf_add_char(&safe, ' ');
	}
	json_open(&s->j, key, '{');
	json_text(&s->j, "text", buf_string(&safe));
	json_close(&s->j, '}');
	buf_free(&safe);
	buf_clear(text);
}

/* Writes nothing if the text is NULL. */
static void put_known(struct sarif *s, const char *key, const char *text)
{
	if (text)
		json_text(&s->j, key, text);
}

static void put_place(struct sarif *s, const struct report_place *at)
{
	struct json *j = &s->j;

	if (at->file) {
		bool below = uri_file(&s->text, s->folder, at->path ? at->path : at->file);

		json_open(j, "physicalLocation", '{');
		json_open(j, "artifactLocation", '{');
		json_text(j, "uri", buf_string(&s->text));
		if (below)
			json_text(j, "uriBaseId", ROOT);
		json_close(j, '}');
		buf_clear(&s->text);
		if (at->line) {
			json_open(j, "region", '{');
			json_number(j, "startLine", at->line);
			if (at->source) {
				json_open(j, "snippet", '{');
				json_text(j, "text", at->source);
				json_close(j, '}');
			}
			json_close(j, '}');
		}
		json_close(j, '}');
	}
	if (at->function) {
		json_open(j, "logicalLocations", '[');
		json_open(j, NULL, '{');
		json_text(j, "fullyQualifiedName", at->function);
		json_text(j, "kind", "function");
		json_close(j, '}');
		json_close(j, ']');
	}
}

/* "1: Thread 0.1 (teller) reads balance" */
static void describe_step_of_thread(const struct report_bug *b, const struct report_step *step,
				    struct buf *out)
{
	if (step->number)
		buf_addf(out, "%u: ", step->number);
	describe_thread(b, step->thread, out);
	buf_add_char(out, ' ');
	describe_step(b, step, out);
}

static void put_stack(struct sarif *s, const struct report_step *step)
{
	struct json *j = &s->j;

	if (!step->stack_count)
		return;
	json_open(j, "stack", '{');
	json_open(j, "frames", '[');
	for (size_t i = 0; i < step->stack_count; i++) {
		json_open(j, NULL, '{');
		json_open(j, "location", '{');
		put_place(s, &step->stack[i]);
		json_close(j, '}');
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static bool has(const char *op, const char *part)
{
	return strstr(op, part) != NULL;
}

/* Writes the kinds of a location, of the words that the standard suggests. */
static void put_kinds(struct sarif *s, const struct report_step *step)
{
	bool done = !step->pending;	/* a blocked thread has not acquired the lock */
	bool lock = done && has(step->op, "lock"),
	     gone = has(step->op, "unlock") || strcmp(step->op, "free") == 0;
	bool memory = done && (strcmp(step->op, "malloc") == 0 || strcmp(step->op, "free") == 0);

	if (!lock && !memory && step->role != REPORT_FAILURE)
		return;
	json_open(&s->j, "kinds", '[');
	if (step->role == REPORT_FAILURE)
		json_text(&s->j, NULL, "danger");
	if (lock || memory) {
		json_text(&s->j, NULL, gone ? "release" : "acquire");
		json_text(&s->j, NULL, lock ? "lock" : "memory");
	}
	json_close(&s->j, ']');
}

static void put_state(struct sarif *s, const struct report_step *step)
{
	if (!step->value && !step->locks)
		return;
	json_open(&s->j, "state", '{');
	if (step->value) {
		buf_add_text(&s->text, step->value);
		put_message(s, "value", &s->text);
	}
	if (step->locks) {
		buf_add_text(&s->text, step->locks);
		put_message(s, "locks", &s->text);
	}
	json_close(&s->j, '}');
}

static void put_step(struct sarif *s, const struct report_bug *b, size_t i)
{
	const struct report_step *step = &b->steps[i];
	struct json *j = &s->j;

	json_open(j, NULL, '{');
	json_open(j, "location", '{');
	put_place(s, &step->at);
	describe_step_of_thread(b, step, &s->text);
	put_message(s, "message", &s->text);
	json_close(j, '}');
	put_stack(s, step);
	put_kinds(s, step);
	put_state(s, step);
	json_number(j, "executionOrder", i + 1);
	if (step->role != REPORT_CONTEXT)
		json_text(j, "importance", "essential");
	json_close(j, '}');
}

static void put_thread(struct sarif *s, const struct report_bug *b, size_t thread)
{
	struct json *j = &s->j;
	bool any = false;

	for (size_t i = 0; i < b->step_count; i++) {
		if (b->steps[i].thread != thread)
			continue;
		if (!any) {	/* a flow without locations is not valid */
			json_open(j, NULL, '{');
			json_text(j, "id", b->threads[thread].name);
			describe_thread(b, thread, &s->text);
			put_message(s, "message", &s->text);
			json_open(j, "locations", '[');
			any = true;
		}
		put_step(s, b, i);
	}
	if (any) {
		json_close(j, ']');
		json_close(j, '}');
	}
}

static void put_flow(struct sarif *s, const struct report_bug *b)
{
	struct json *j = &s->j;

	if (!b->step_count)
		return;
	json_open(j, "codeFlows", '[');
	json_open(j, NULL, '{');
	json_open(j, "threadFlows", '[');
	for (size_t i = 0; i < b->thread_count; i++)
		put_thread(s, b, i);
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, ']');
}

static bool is_named(const struct report_step *step)
{
	return step->number || step->role == REPORT_FAILURE;
}

/* The location is the first event of the cause, or without a cause the place of the failure. */
static void put_locations(struct sarif *s, const struct report_bug *b)
{
	const struct report_place *first = NULL;

	for (size_t i = 0; !first && i < b->step_count; i++)
		if (b->steps[i].number && b->steps[i].at.file)
			first = &b->steps[i].at;
	for (size_t i = 0; !first && i < b->step_count; i++)
		if (is_named(&b->steps[i]) && b->steps[i].at.file)
			first = &b->steps[i].at;
	for (size_t i = 0; !first && i < b->site_count; i++)
		if (b->sites[i].at.file)
			first = &b->sites[i].at;
	json_open(&s->j, "locations", '[');
	if (first) {
		json_open(&s->j, NULL, '{');
		put_place(s, first);
		json_close(&s->j, '}');
	}
	json_close(&s->j, ']');
	json_open(&s->j, "relatedLocations", '[');
	for (size_t i = 0; i < b->step_count; i++) {
		if (!is_named(&b->steps[i]) || !b->steps[i].at.file)
			continue;
		json_open(&s->j, NULL, '{');
		json_number(&s->j, "id", i + 1);
		put_place(s, &b->steps[i].at);
		describe_step_of_thread(b, &b->steps[i], &s->text);
		put_message(s, "message", &s->text);
		json_close(&s->j, '}');
	}
	json_close(&s->j, ']');
}

/* The message of a result. Some viewers show only its first sentence: the title. */
static void describe_bug(const struct report_bug *b, struct buf *out)
{
	struct buf more = { 0 };

	describe_title(b, out);
	buf_add_text(out, ".\n");
	describe_failure(b, out);
	describe_details(b, false, &more);
	if (more.size)
		buf_addf(out, ":\n%s", buf_string(&more));
	for (size_t i = 0; i < b->step_count; i++)
		if (is_named(&b->steps[i])) {
			buf_add_char(out, '\n');
			describe_step_of_thread(b, &b->steps[i], out);
			buf_clear(&more);
			describe_effect(b, &b->steps[i], &more);
			buf_add_text(out, buf_string(&more));
		}
	buf_clear(&more);
	describe_outcome(b, &more);
	if (more.size)
		buf_addf(out, "\n%s", buf_string(&more));
	buf_add_text(out, "\nReplay it: ");
	describe_replay_command(b, NULL, out);
	buf_free(&more);
}

/* Returns the index of a rule, or rule_count if it is new. */
static size_t rule_of(struct sarif *s, const char *id)
{
	size_t i = 0;

	while (i < s->rule_count && strcmp(s->rules[i], id) != 0)
		i++;
	return i;
}

static void put_rule(struct sarif *s, const struct report_bug *b)
{
	struct json *j = &s->j;

	describe_kind(b, &s->text);
	if (rule_of(s, buf_string(&s->text)) < s->rule_count) {
		buf_clear(&s->text);
		return;
	}
	s->rules = xgrow(s->rules, s->rule_count, &s->rule_capacity, sizeof(*s->rules));
	s->rules[s->rule_count++] = xstrdup(buf_string(&s->text));
	json_open(j, NULL, '{');
	json_text(j, "id", buf_string(&s->text));
	buf_clear(&s->text);
	describe_kind_title(b, &s->text);
	put_message(s, "shortDescription", &s->text);
	describe_hint(b, &s->text);
	if (s->text.size)
		put_message(s, "help", &s->text);
	json_open(j, "defaultConfiguration", '{');
	json_text(j, "level", "error");
	json_close(j, '}');
	json_open(j, "properties", '{');
	json_open(j, "tags", '[');
	json_text(j, NULL, "concurrency");
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, '}');
}

static void put_result(struct sarif *s, const struct report_bug *b)
{
	struct json *j = &s->j;

	json_open(j, NULL, '{');
	describe_kind(b, &s->text);
	json_text(j, "ruleId", buf_string(&s->text));
	json_number(j, "ruleIndex", rule_of(s, buf_string(&s->text)));
	buf_clear(&s->text);
	json_text(j, "kind", "fail");
	json_text(j, "level", "error");
	if (s->compared)
		json_text(j, "baselineState", b->known ? "unchanged" : "new");
	describe_bug(b, &s->text);
	put_message(s, "message", &s->text);
	put_locations(s, b);
	put_flow(s, b);
	json_open(j, "partialFingerprints", '{');
	buf_addf(&s->text, "%016llx", (unsigned long long)identity_hash(b->json));
	json_text(j, "snarlIdentity/v1", buf_string(&s->text));
	buf_clear(&s->text);
	json_close(j, '}');
	json_open(j, "properties", '{');
	json_text(j, "id", b->id);
	put_known(s, "failure", b->failure);
	put_known(s, "variable", b->variable);
	put_known(s, "command", b->command);
	describe_replay_command(b, NULL, &s->text);
	json_text(j, "replay", buf_string(&s->text));
	buf_clear(&s->text);
	json_close(j, '}');
	json_close(j, '}');
}

/* A failure that did not replay: someone has to decide whether it is a problem. */
static void put_finding(struct sarif *s, const struct report_finding *f)
{
	struct json *j = &s->j;

	json_open(j, NULL, '{');
	json_text(j, "ruleId", "not-proved");
	json_text(j, "kind", "review");
	json_text(j, "level", "none");
	buf_addf(&s->text, "%s\n%s", f->title, f->text);
	put_message(s, "message", &s->text);
	json_open(j, "partialFingerprints", '{');
	json_text(j, "snarlFailure/v1", f->fingerprint);
	json_close(j, '}');
	json_close(j, '}');
}

/* Runs that exceeded a limit. */
static void put_notifications(struct sarif *s, const struct report *r)
{
	struct json *j = &s->j;
	const struct report_finding *f =
		r->finding_count ? &r->findings[r->finding_count - 1] : NULL;

	if (!f || !f->inconclusive)
		return;
	json_open(j, "invocations", '[');
	json_open(j, NULL, '{');
	json_bool(j, "executionSuccessful", true);
	json_open(j, "toolExecutionNotifications", '[');
	json_open(j, NULL, '{');
	json_text(j, "level", "warning");
	buf_addf(&s->text, "%s\n%s", f->title, f->text);
	put_message(s, "message", &s->text);
	json_close(j, '}');
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, ']');
}

static void put_run(struct sarif *s, const struct report *r)
{
	struct json *j = &s->j;

	json_open(j, "tool", '{');
	json_open(j, "driver", '{');
	json_text(j, "name", "snarl");
	json_text(j, "version", VERSION);
	json_text(j, "semanticVersion", VERSION);
	json_open(j, "rules", '[');
	for (size_t i = 0; i < r->bug_count; i++)
		if (report_is_current(r, &r->bugs[i]))
			put_rule(s, &r->bugs[i]);
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, '}');
	json_open(j, "originalUriBaseIds", '{');
	json_open(j, ROOT, '{');
	uri_folder(&s->text, s->folder);
	json_text(j, "uri", buf_string(&s->text));
	buf_clear(&s->text);
	json_close(j, '}');
	json_close(j, '}');
	json_open(j, "results", '[');
	for (size_t i = 0; i < r->bug_count; i++)
		if (report_is_current(r, &r->bugs[i]))
			put_result(s, &r->bugs[i]);
	for (size_t i = 0; i < r->finding_count; i++)
		if (!r->findings[i].inconclusive)
			put_finding(s, &r->findings[i]);
	json_close(j, ']');
	put_notifications(s, r);
}

static void sarif_all(const struct report *r, const struct report_style *style, struct buf *out)
{
	struct sarif s = { .j = { .out = out }, .folder = getcwd(NULL, 0),
			   .compared = json_is_object(json_object_get(r->json, "baseline")) };

	(void)style;
	if (!s.folder)	/* the working folder was removed */
		s.folder = xstrdup("/");
	json_open(&s.j, NULL, '{');
	json_text(&s.j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_text(&s.j, "version", "2.1.0");
	json_open(&s.j, "runs", '[');
	json_open(&s.j, NULL, '{');
	put_run(&s, r);
	json_close(&s.j, '}');
	json_close(&s.j, ']');
	json_close(&s.j, '}');
	buf_add_char(out, '\n');
	for (size_t i = 0; i < s.rule_count; i++)
		free(s.rules[i]);
	free(s.rules);
	free(s.folder);
	buf_free(&s.text);
}

const struct report_format report_sarif = {
	.name = "sarif", .summary = "SARIF 2.1.0, for code scanning and editors", .all = sarif_all,
};

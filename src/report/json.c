/*
 * The JSON format: results.json, if there is one, in which each bug has all members of its
 * bug.json, a title and the steps of the picture.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/describe.h"
#include "report/format.h"

static json_t *string_of(struct buf *text)
{
	json_t *value = json_string(buf_string(text));

	buf_free(text);
	return value ? value : json_string("");
}

static void set_text(json_t *to, const char *key, const char *text)
{
	json_t *value = text ? json_string(text) : NULL;	/* NULL if not UTF-8 */

	json_object_set_new(to, key, value ? value : json_null());
}

static json_t *place_of(const struct report_place *at)
{
	json_t *j = json_object();

	set_text(j, "function", at->function);
	set_text(j, "file", at->file);
	json_object_set_new(j, "line", json_integer(at->line));
	set_text(j, "source", at->source);
	return j;
}

static json_t *step_of(const struct report_bug *b, const struct report_step *s)
{
	json_t *j = place_of(&s->at), *stack = json_array();
	struct buf text = { 0 };

	set_text(j, "thread", b->threads[s->thread].name);
	set_text(j, "op", s->op);
	set_text(j, "object", s->object);
	set_text(j, "value", s->value);
	set_text(j, "locks", s->locks);
	json_object_set_new(j, "number", s->number ? json_integer(s->number) : json_null());
	json_object_set_new(j, "failure", json_boolean(s->role == REPORT_FAILURE));
	json_object_set_new(j, "pending", json_boolean(s->pending));
	json_object_set_new(j, "event",
			    s->event ? json_integer((json_int_t)s->event) : json_null());
	json_object_set_new(j, "skipped", json_integer((json_int_t)s->skipped));
	describe_step(b, s, &text);
	json_object_set_new(j, "text", string_of(&text));
	for (size_t i = 0; i < s->stack_count; i++)
		json_array_append_new(stack, place_of(&s->stack[i]));
	json_object_set_new(j, "stack", stack);
	return j;
}

static json_t *bug_of(const struct report_bug *b)
{
	json_t *j = json_deep_copy(b->json), *steps = json_array(), *threads = json_array();
	struct buf text = { 0 };

	describe_title(b, &text);
	json_object_set_new(j, "title", string_of(&text));
	for (size_t i = 0; i < b->thread_count; i++) {
		json_t *t = json_object();

		set_text(t, "name", b->threads[i].name);
		set_text(t, "function", b->threads[i].function);
		json_array_append_new(threads, t);
	}
	for (size_t i = 0; i < b->step_count; i++)
		json_array_append_new(steps, step_of(b, &b->steps[i]));
	json_object_set_new(j, "thread_list", threads);
	json_object_set_new(j, "picture", steps);
	if (b->passing_run) {
		steps = json_array();
		for (size_t i = 0; i < b->passing_run->step_count; i++)
			json_array_append_new(steps, step_of(b->passing_run,
							     &b->passing_run->steps[i]));
		json_object_set_new(j, "passing_picture", steps);
	}
	return j;
}

static void json_all(const struct report *r, const struct report_style *style, struct buf *out)
{
	json_t *j = r->json ? json_deep_copy(r->json) : json_object(), *bugs = json_array();
	char *text;

	(void)style;
	json_object_set_new(j, "version", json_integer(1));
	set_text(j, "program", r->program);
	for (size_t i = 0; i < r->bug_count; i++)
		json_array_append_new(bugs, bug_of(&r->bugs[i]));
	json_object_set_new(j, "bugs", bugs);
	text = json_dumps(j, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	buf_add_text(out, text ? text : "{}");
	buf_add_char(out, '\n');
	free(text);
	json_decref(j);
}

const struct report_format report_json = {
	.name = "json", .summary = "results.json with the steps of each bug", .all = json_all,
};

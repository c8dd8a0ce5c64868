/*
 * Coverage as JSON, written and read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "report/cover.h"

static void set_text(json_t *to, const char *key, const char *text)
{
	json_t *value = json_string(text);	/* NULL if it is not UTF-8 */

	json_object_set_new(to, key, value ? value : json_string("?"));
}

static void set_number(json_t *to, const char *key, uint64_t value)
{
	json_object_set_new(to, key, json_integer((json_int_t)value));
}

static json_t *figures(const struct cover_figures *f)
{
	json_t *j = json_object();

	set_number(j, "exposed", f->at[COVER_EXPOSED]);
	set_number(j, "untested", f->at[COVER_UNTESTED]);
	set_number(j, "infeasible", f->at[COVER_INFEASIBLE]);
	set_number(j, "known", cover_total(f));
	json_object_set_new(j, "percent", json_real(cover_percent(f)));
	return j;
}

static json_t *event_of(const struct cover_event *e)
{
	json_t *j = json_object();

	set_text(j, "key", e->key);
	set_text(j, "access", cover_access_name(e->access));
	set_text(j, "function", e->function);
	set_text(j, "file", e->file);
	set_number(j, "line", e->line);
	set_number(j, "column", e->column);
	return j;
}

static json_t *item_of(const struct cover_item *item)
{
	json_t *j = json_object(), *events = json_array();

	set_number(j, "idiom", item->idiom);
	for (unsigned i = 0; i < IROOT_EVENTS && item->event[i]; i++)
		json_array_append_new(events, json_integer(item->event[i] - 1));
	json_object_set_new(j, "events", events);
	set_text(j, "state", cover_verdict_name(item->verdict));
	set_number(j, "exposed", item->exposed);
	set_number(j, "predicted", item->predicted);
	set_number(j, "attempts", item->attempts);
	set_number(j, "failed", item->failed);
	return j;
}

static json_t *array_of_items(const struct cover_state *s)
{
	json_t *j = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(j, item_of(&s->items[i]));
	return j;
}

static void set_sums(json_t *root, const struct cover_state *s)
{
	json_t *idioms = json_array(), *files = json_array(), *points = json_array();

	json_object_set_new(root, "all", figures(&s->all));
	for (unsigned i = 1; i <= IROOT_IDIOMS; i++) {
		json_t *j = figures(&s->idioms[i]);

		set_number(j, "idiom", i);
		json_array_append_new(idioms, j);
	}
	for (size_t i = 0; i < s->file_count; i++) {
		json_t *j = figures(&s->files[i].figures);

		set_text(j, "file", s->files[i].name);
		json_array_append_new(files, j);
	}
	for (size_t i = 0; i < s->point_count; i++) {
		json_t *j = json_object();

		set_number(j, "run", s->points[i].run);
		set_text(j, "strategy", s->points[i].strategy);
		set_number(j, "exposed", s->points[i].exposed);
		set_number(j, "known", s->points[i].known);
		json_array_append_new(points, j);
	}
	json_object_set_new(root, "idioms", idioms);
	json_object_set_new(root, "files", files);
	json_object_set_new(root, "saturation", points);
}

void cover_json(const struct cover_state *s, const struct cover_state *diff, struct buf *out)
{
	json_t *root = json_object(), *events = json_array();
	char *text;

	set_number(root, "version", COVER_JSON_VERSION);
	set_text(root, "program", s->program);
	set_number(root, "runs", s->runs);
	set_number(root, "failed_runs", s->failed_runs);
	set_sums(root, s);
	for (size_t i = 0; i < s->event_count; i++)
		json_array_append_new(events, event_of(&s->events[i]));
	json_object_set_new(root, "events", events);
	json_object_set_new(root, "iroots", array_of_items(s));
	if (diff) {
		json_t *j = json_object();
		struct cover_diff d;

		cover_diff(diff, s, &d);
		set_number(j, "newly_exposed", d.exposed);
		set_number(j, "new_untested", d.untested);
		set_number(j, "not_exposed_any_more", d.lost);
		set_number(j, "gone", d.gone);
		json_object_set_new(j, "before", figures(&diff->all));
		json_object_set_new(root, "diff", j);
	}
	text = json_dumps(root, JSON_INDENT(1));
	buf_add_text(out, text ? text : "{}");
	buf_add_char(out, '\n');
	free(text);
	json_decref(root);
}

static const char *text_of(const json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text ? text : "";
}

static uint64_t number_of(const json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}

static void parse_event(struct cover_state *s, const json_t *j)
{
	struct cover_event e = { .key = xstrdup(text_of(j, "key")),
				 .function = xstrdup(text_of(j, "function")),
				 .file = xstrdup(text_of(j, "file")),
				 .line = (unsigned)number_of(j, "line"),
				 .column = (unsigned)number_of(j, "column") };

	for (unsigned i = IROOT_READ; i <= IROOT_RELEASE; i++)
		if (strcmp(text_of(j, "access"), cover_access_name((enum iroot_access)i)) == 0)
			e.access = (enum iroot_access)i;
	s->events = xgrow(s->events, s->event_count, &s->event_capacity, sizeof(*s->events));
	s->events[s->event_count++] = e;
}

static int parse_item(struct cover_state *s, const json_t *j)
{
	const json_t *events = json_object_get(j, "events");
	struct cover_item item = { .idiom = (uint32_t)number_of(j, "idiom"),
				   .exposed = number_of(j, "exposed"),
				   .predicted = number_of(j, "predicted"),
				   .attempts = number_of(j, "attempts"),
				   .failed = number_of(j, "failed") };
	size_t count = json_array_size(events);

	if (item.idiom < 1 || item.idiom > IROOT_IDIOMS || count < 2 || count > IROOT_EVENTS)
		return -1;
	for (size_t i = 0; i < count; i++) {
		json_int_t at = json_integer_value(json_array_get(events, i));

		if (at < 0 || (uint64_t)at >= s->event_count)
			return -1;
		item.event[i] = (uint32_t)at + 1;
	}
	cover_state_judge(&item);
	s->items = xgrow(s->items, s->count, &s->capacity, sizeof(*s->items));
	s->items[s->count++] = item;
	return 0;
}

static int parse(struct cover_state *s, const json_t *root, const char *path, struct err *err)
{
	const json_t *list = json_object_get(root, "events");

	if (number_of(root, "version") != COVER_JSON_VERSION || !json_is_array(list))
		return err_set(err, "%s is not the output of snarl cover --json of this version",
			       path);
	s->program = xstrdup(text_of(root, "program"));
	s->runs = number_of(root, "runs");
	s->failed_runs = number_of(root, "failed_runs");
	for (size_t i = 0; i < json_array_size(list); i++)
		parse_event(s, json_array_get(list, i));
	list = json_object_get(root, "iroots");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (parse_item(s, json_array_get(list, i)) < 0)
			return err_set(err, "%s: iRoot %zu is malformed", path, i);
	cover_state_sum(s);
	return 0;
}

static bool is_json(const char *path)
{
	FILE *f = fopen(path, "re");
	int c;

	if (!f)
		return false;
	while ((c = getc(f)) == ' ' || c == '\n' || c == '\t' || c == '\r')
		;
	fclose(f);
	return c == '{';
}

int cover_read(struct cover_state *s, const char *path, const char *program, struct err *err)
{
	json_error_t error;
	json_t *root;
	struct memo *m;
	int result;

	*s = (struct cover_state){ 0 };
	if (!is_json(path)) {
		m = memo_open(path, false, err);
		result = m ? cover_state_load(s, m, program, err) : -1;
		memo_close(m);
		return result;
	}
	root = json_load_file(path, 0, &error);
	if (!root)
		return err_set(err, "%s:%d: %s", path, error.line, error.text);
	result = parse(s, root, path, err);
	json_decref(root);
	return result;
}

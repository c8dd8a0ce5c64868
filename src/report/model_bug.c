/*
 * Reads bug.json. A member that is missing or of another type counts as unknown; only a file that
 * is not a JSON object is an error.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "report/model.h"

static const char *text_of(struct report_bug *b, json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));

	return text && *text ? pool_text(&b->pool, text) : NULL;
}

static uint64_t number_of(json_t *from, const char *key, bool *there)
{
	json_t *value = json_object_get(from, key);
	json_int_t number = json_integer_value(value);

	if (there)
		*there = json_is_integer(value) && number >= 0;
	if (json_is_string(value))	/* numbers above 2^53 are strings (base/json.h) */
		return strtoull(json_string_value(value), NULL, 10);
	return number < 0 ? 0 : (uint64_t)number;
}

/* The member "value", a number or a text, as text. */
static const char *value_of(struct report_bug *b, json_t *from)
{
	json_t *value = json_object_get(from, "value");

	if (json_is_integer(value))
		return pool_format(&b->pool, "%lld", (long long)json_integer_value(value));
	return text_of(b, from, "value");
}

static uint64_t index_of(json_t *from, const char *key)
{
	bool there;
	uint64_t index = number_of(from, key, &there);

	return there ? index : REPORT_NONE;
}

void report_read_site(struct report_bug *b, json_t *from, struct report_site *out)
{
	*out = (struct report_site){
		.thread = text_of(b, from, "thread"), .op = text_of(b, from, "op"),
		.object = text_of(b, from, "object"), .locks = text_of(b, from, "locks"),
		.value = value_of(b, from), .cause = json_object_get(from, "locks") != NULL,
		.at = { text_of(b, from, "function"), text_of(b, from, "file"),
			(unsigned)number_of(from, "line", NULL), NULL, NULL },
		.index = index_of(from, "index"), .passing_index = index_of(from, "passing_index"),
		.pending = json_is_true(json_object_get(from, "pending")),
		.step = REPORT_NONE,
	};
	b->has_indexes |= json_object_get(from, "index") || out->pending;
	if (!out->op)
		out->op = "stand";
	if (out->at.function && strcmp(out->at.function, "??") == 0)
		out->at.function = NULL;
}

static struct report_site *read_sites(struct report_bug *b, json_t *list, size_t *count)
{
	struct report_site *sites = xcalloc(json_array_size(list) + 1, sizeof(*sites));
	json_t *item;
	size_t i;

	*count = json_array_size(list);
	json_array_foreach(list, i, item)
		report_read_site(b, item, &sites[i]);
	return sites;
}

/*
 * Guesses whether the event of `s` did not complete: its thread was blocked or used freed memory on
 * that line, and no later event of the cause is there. A plain access never blocks.
 */
static bool seems_pending(const struct report_bug *b, const struct report_site *s)
{
	bool access = strncmp(s->op, "read", 4) == 0 || strncmp(s->op, "write", 5) == 0;
	bool pending = false;

	for (const struct report_site *o = b->sites; s->thread && o < b->sites + b->site_count;
	     o++) {
		if (!o->thread || strcmp(o->thread, s->thread) != 0 || o->at.line != s->at.line)
			continue;
		if (o->cause && o > s)
			return false;
		pending = !o->cause && !strstr("assert crash abort", o->op) &&
			  (!access || strcmp(o->op, "use") == 0);
	}
	return pending;
}

/* Older versions of snarl wrote neither `index` nor `pending`. */
static void guess_pending(struct report_bug *b)
{
	for (size_t i = 0; i < b->site_count && !b->has_indexes; i++)
		b->sites[i].pending = seems_pending(b, &b->sites[i]);
}

static void read_interleavings(struct report_bug *b)
{
	json_t *list = json_object_get(b->json, "interleavings"), *item;
	size_t i;

	b->interleavings = xcalloc(json_array_size(list) + 1, sizeof(*b->interleavings));
	b->interleaving_count = json_array_size(list);
	json_array_foreach(list, i, item) {
		struct report_interleaving *out = &b->interleavings[i];

		out->pattern = text_of(b, item, "pattern");
		out->schedule = text_of(b, item, "schedule");
		out->events = read_sites(b, json_object_get(item, "events"), &out->count);
	}
}

static void read_symptoms(struct report_bug *b)
{
	json_t *list = json_object_get(b->json, "failures"), *item;
	size_t i;

	b->symptoms = xcalloc(json_array_size(list) + 1, sizeof(*b->symptoms));
	b->symptom_count = json_array_size(list);
	json_array_foreach(list, i, item) {
		b->symptoms[i].text = text_of(b, item, "text");
		b->symptoms[i].schedule = text_of(b, item, "schedule");
	}
}

/* Words with characters that the shell interprets are quoted. */
const char *report_command(struct pool *p, const json_t *list)
{
	struct buf text = { 0 };
	const char *result;
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const char *word = json_string_value(item);
		bool plain = word && *word && !word[strcspn(word, " \t\n'\"\\$&|;<>()*?[]#~`!{}")];

		if (!word)
			continue;
		if (text.size)
			buf_add_char(&text, ' ');
		if (!plain)
			buf_add_char(&text, '\'');
		for (; *word; word++)
			if (*word == '\'')
				buf_add_text(&text, "'\\''");
			else
				buf_add_char(&text, *word);
		if (!plain)
			buf_add_char(&text, '\'');
	}
	result = text.size ? pool_text(p, buf_string(&text)) : NULL;
	buf_free(&text);
	return result;
}

static void read_members(struct report_bug *b, const char *folder)
{
	json_t *j = b->json, *replays = json_object_get(j, "replays");
	const char *name = strrchr(folder, '/');

	b->id = text_of(b, j, "id");
	if (!b->id)
		b->id = pool_text(&b->pool, name ? name + 1 : folder);
	b->class = text_of(b, j, "class");
	b->pattern = text_of(b, j, "pattern");
	b->failure = text_of(b, j, "failure");
	b->text = text_of(b, j, "text");
	b->variable = text_of(b, j, "variable");
	b->cause = text_of(b, j, "cause");
	b->strategy = text_of(b, j, "strategy");
	b->program = text_of(b, j, "program");
	b->runs_to_first = number_of(j, "runs_to_first", NULL);
	b->seed = number_of(j, "seed", NULL);
	b->length = number_of(j, "steps", NULL);
	b->switches = number_of(j, "switches", &b->has_switches);
	b->replays_failed = (uint64_t)json_integer_value(json_array_get(replays, 0));
	b->replays = (uint64_t)json_integer_value(json_array_get(replays, 1));
	b->sites = read_sites(b, json_object_get(j, "sites"), &b->site_count);
	guess_pending(b);
}

int report_read_bug(struct report_bug *b, const char *folder, struct err *err)
{
	char *path = xasprintf("%s/bug.json", folder);
	json_error_t bad;
	int result = 0;

	b->json = json_load_file(path, 0, &bad);
	if (!json_is_object(b->json))
		result = err_set(err, "%s:%d: %s", path, b->json ? 1 : bad.line,
				 b->json ? "not an object" : bad.text);
	free(path);
	if (result < 0)
		return -1;
	read_members(b, folder);
	b->command = report_command(&b->pool, json_object_get(b->json, "arguments"));
	read_interleavings(b);
	read_symptoms(b);
	if (json_is_true(json_object_get(b->json, "every_run")))
		report_note(b, "No run passes: this is not about interleaving.");
	return 0;
}

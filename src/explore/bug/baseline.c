#include "explore/bug/baseline.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore/bug/identity.h"

struct entry {
	char *id, *identity;
	char *description;	/* for users: description_of() */
	const char *known_as;	/* in `current`: id in the baseline; NULL: new */
	bool found_again;	/* in `earlier`: this session found the bug too */
};

struct entries {
	struct entry *items;
	size_t count, capacity;
};

struct baseline {
	char *path;
	struct entries earlier;	/* bugs of the baseline */
	struct entries current;	/* bugs of this session that were looked up */
};

static char *identity_of(const json_t *bug)
{
	struct buf text = { 0 };
	char *result;

	identity_append(&text, bug);
	result = xstrdup(buf_string(&text));
	buf_free(&text);
	return result;
}

/* Describes a bug for users: "atomicity RWW on balance in balance_get, balance_set". */
static char *description_of(const json_t *bug)
{
	const json_t *sites = json_object_get(bug, "sites"), *site;
	const char *pattern = identity_member(bug, "pattern"), *last = "";
	const char *variable = identity_member(bug, "variable");
	struct buf text = { 0 };
	bool first = true;
	char *result;
	size_t i;

	buf_addf(&text, "%s%s%s",
		 identity_member(bug, identity_has_cause(bug) ? "class" : "failure"),
		 *pattern ? " " : "", pattern);
	if (*variable)
		buf_addf(&text, " on %s", variable);
	json_array_foreach(sites, i, site) {
		const char *function = identity_function(site);

		if (!identity_uses_site(bug, site) || strcmp(function, last) == 0)
			continue;
		buf_addf(&text, "%s%s", first ? " in " : ", ", function);
		last = function;
		first = false;
	}
	result = xstrdup(buf_string(&text));
	buf_free(&text);
	return result;
}

static struct entry *add_entry(struct entries *list, const json_t *bug)
{
	struct entry *e;

	list->items = xgrow(list->items, list->count, &list->capacity, sizeof(*list->items));
	e = &list->items[list->count++];
	*e = (struct entry){ .id = xstrdup(identity_member(bug, "id")),
			     .identity = identity_of(bug),
			     .description = description_of(bug) };
	return e;
}

struct baseline *baseline_read(const char *path, struct err *err)
{
	struct baseline *l;
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error), *bugs = json_object_get(root, "bugs"), *bug;
	size_t i;

	if (!root && error.line < 0) {
		err_set(err, "cannot read the baseline %s: %s", path, strerror(errno));
		return NULL;
	}
	if (!json_is_array(bugs) || json_integer_value(json_object_get(root, "version")) != 1) {
		json_decref(root);
		err_set(err, "%s is no results.json of snarl hunt or snarl test", path);
		return NULL;
	}
	l = xcalloc(1, sizeof(*l));
	l->path = xstrdup(path);
	json_array_foreach(bugs, i, bug)
		add_entry(&l->earlier, bug);
	json_decref(root);
	return l;
}

static void free_entries(struct entries *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].id);
		free(list->items[i].identity);
		free(list->items[i].description);
	}
	free(list->items);
}

void baseline_free(struct baseline *l)
{
	if (!l)
		return;
	free_entries(&l->earlier);
	free_entries(&l->current);
	free(l->path);
	free(l);
}

/* The bug as the JSON object that results.json will contain; the caller releases it. */
static json_t *bug_object(const struct bug *b, struct places *places)
{
	struct buf text = { 0 };
	struct json j = { .out = &text };
	json_t *result;

	json_open(&j, NULL, '{');
	bug_json(b, &j, "", places);
	json_close(&j, '}');
	result = json_loadb((const char *)text.data, text.size, 0, NULL);
	buf_free(&text);
	return result;
}

const char *baseline_find(struct baseline *l, const struct bug *b, struct places *places)
{
	json_t *bug = bug_object(b, places);
	struct entry *e = add_entry(&l->current, bug);

	json_decref(bug);
	for (size_t i = 0; i < l->earlier.count; i++)
		if (strcmp(l->earlier.items[i].identity, e->identity) == 0) {
			l->earlier.items[i].found_again = true;
			if (!e->known_as)
				e->known_as = l->earlier.items[i].id;
		}
	return e->known_as;
}

void baseline_set_id(struct baseline *l, const char *id)
{
	struct entry *e = &l->current.items[l->current.count - 1];

	free(e->id);
	e->id = xstrdup(id);
}

struct baseline_counts baseline_count(const struct baseline *l)
{
	struct baseline_counts c = { .path = l->path };

	for (size_t i = 0; i < l->current.count; i++)
		c.fresh += !l->current.items[i].known_as;
	c.known = l->current.count - c.fresh;
	for (size_t i = 0; i < l->earlier.count; i++)
		c.gone += !l->earlier.items[i].found_again;
	return c;
}

bool baseline_gone(const struct baseline *l, size_t *at, const char **id,
		   const char **description)
{
	while (*at < l->earlier.count) {
		const struct entry *e = &l->earlier.items[(*at)++];

		if (e->found_again)
			continue;
		*id = e->id;
		*description = e->description;
		return true;
	}
	return false;
}

void baseline_json(const struct baseline *l, struct json *j)
{
	json_open(j, "baseline", '{');
	json_text(j, "file", l->path);
	json_open(j, "new", '[');
	for (size_t i = 0; i < l->current.count; i++)
		if (!l->current.items[i].known_as)
			json_text(j, NULL, l->current.items[i].id);
	json_close(j, ']');
	json_open(j, "known", '[');
	for (size_t i = 0; i < l->current.count; i++)
		if (l->current.items[i].known_as) {
			json_open(j, NULL, '{');
			json_text(j, "id", l->current.items[i].id);
			json_text(j, "was", l->current.items[i].known_as);
			json_close(j, '}');
		}
	json_close(j, ']');
	json_open(j, "gone", '[');
	for (size_t i = 0; i < l->earlier.count; i++)
		if (!l->earlier.items[i].found_again) {
			json_open(j, NULL, '{');
			json_text(j, "id", l->earlier.items[i].id);
			json_text(j, "text", l->earlier.items[i].description);
			json_close(j, '}');
		}
	json_close(j, ']');
	json_close(j, '}');
}

/* The global variable that a site accesses, without offset; "" if it accesses none. */
static char *variable_of(const json_t *site)
{
	const char *object = identity_member(site, "object");
	size_t size = strcspn(object, "+ @");

	return xstrndup(object, object[size] == '@' || object[size] == ' ' ? 0 : size);
}

/* The type of suppression that can cover the bug; NULL: none. */
static const char *suppression_type(const json_t *bug)
{
	const char *class = identity_member(bug, "class");

	if (strcmp(class, "deadlock") == 0)
		return "deadlock";
	if (strcmp(class, "misuse") == 0)
		return "mutex";
	if (identity_has_cause(bug) || strcmp(class, "memory") == 0)
		return "race";
	return NULL;
}

/* Appends the line "TYPE:^NAME$" unless it is there already. */
static void add_line(struct buf *out, const char *type, const char *name)
{
	char *line = xasprintf("%s:^%s$\n", type, name);

	if (!strstr(buf_string(out), line))
		buf_add_text(out, line);
	free(line);
}

void baseline_suppressions(const struct bug *b, struct places *places, struct buf *out)
{
	json_t *bug = bug_object(b, places), *sites = json_object_get(bug, "sites"), *site;
	const char *type = suppression_type(bug);
	char *description = description_of(bug);
	struct buf lines = { 0 };
	size_t i;

	json_array_foreach(sites, i, site) {
		char *variable = variable_of(site);

		if (type && identity_uses_site(bug, site) && *identity_member(site, "function")) {
			if (strcmp(type, "race") == 0 && *variable)
				add_line(&lines, type, variable);
			else
				add_line(&lines, strcmp(type, "race") == 0 ? "race_top" : type,
					 identity_function(site));
		}
		free(variable);
	}
	buf_addf(out, "# %s: %s\n%s", identity_member(bug, "id"), description,
		 lines.size ? buf_string(&lines)
			    : "# no line can cover this bug: its cause is not known\n");
	buf_free(&lines);
	free(description);
	json_decref(bug);
}

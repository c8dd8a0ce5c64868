/*
 * Opens a folder: finds its bugs, reads the files of each, and results.json.
 */
#include "report/model.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/mem.h"

size_t report_add_thread(struct report_bug *b, const char *name)
{
	for (size_t i = 0; i < b->thread_count; i++)
		if (strcmp(b->threads[i].name, name) == 0)
			return i;
	b->threads = xgrow(b->threads, b->thread_count, &b->thread_capacity, sizeof(*b->threads));
	b->threads[b->thread_count] = (struct report_thread){ .name = pool_text(&b->pool, name) };
	return b->thread_count++;
}

size_t report_find_thread(const struct report_bug *b, const char *name)
{
	for (size_t i = 0; i < b->thread_count; i++)
		if (strcmp(b->threads[i].name, name) == 0)
			return i;
	return 0;
}

size_t report_colour(const struct report_bug *b, size_t thread)
{
	if (strcmp(b->threads[0].name, "0") == 0)
		return thread == 0 ? 0 : 1 + (thread - 1) % (REPORT_COLOURS - 1);
	return 1 + thread % (REPORT_COLOURS - 1);
}

void report_note(struct report_bug *b, const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	b->notes = xgrow(b->notes, b->note_count, &b->note_capacity, sizeof(*b->notes));
	b->notes[b->note_count++] = pool_text(&b->pool, text);
}

static void bug_close(struct report_bug *b)
{
	for (size_t i = 0; i < b->interleaving_count; i++)
		free(b->interleavings[i].events);
	for (size_t i = 0; i < b->step_count; i++)
		free(b->steps[i].stack);
	free(b->sites);
	free(b->interleavings);
	free(b->symptoms);
	free(b->threads);
	free(b->steps);
	free(b->bars);
	free(b->arrows);
	free(b->objects);
	free(b->failing.at);
	free(b->passing.at);
	free(b->notes);
	json_decref(b->json);
	pool_free(&b->pool);
	if (b->passing_run)
		bug_close(b->passing_run);
	free(b->passing_run);
}

void report_close(struct report *r)
{
	for (size_t i = 0; i < r->bug_count; i++)
		bug_close(&r->bugs[i]);
	free(r->bugs);
	free(r->findings);
	json_decref(r->json);
	pool_free(&r->pool);
	*r = (struct report){ 0 };
}

bool report_is_current(const struct report *r, const struct report_bug *b)
{
	return !r->json || b->current;
}

static int add_bug(struct report *r, const char *folder, bool details, const struct symbols *loaded,
		   struct err *err)
{
	struct report_bug *b;

	r->bugs = xgrow(r->bugs, r->bug_count, &r->bug_capacity, sizeof(*r->bugs));
	b = &r->bugs[r->bug_count++];
	*b = (struct report_bug){ .first_different_turn = REPORT_NONE };
	b->path = pool_text(&b->pool, folder);
	if (report_read_bug(b, folder, err) < 0)
		return -1;
	if (!details)
		return 0;
	report_read_trace(b, loaded);
	report_read_schedule(b, loaded);
	report_read_output(b);
	report_read_sources(b);
	return 0;
}

static bool exists(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

/* B2 before B10. */
static int by_number(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	size_t n = strlen(a), m = strlen(b);

	return n != m ? (n < m ? -1 : 1) : strcmp(a, b);
}

static int add_bugs(struct report *r, const char *bugs, bool details, const struct symbols *loaded,
		    struct err *err)
{
	DIR *dir = opendir(bugs);
	char **names = NULL;
	size_t count = 0, capacity = 0;
	struct dirent *entry;
	int result = 0;

	if (!dir)	/* the hunt found no bug */
		return errno == ENOENT ? 0
				       : err_set(err, "cannot read %s: %s", bugs, strerror(errno));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		names = xgrow(names, count, &capacity, sizeof(*names));
		names[count++] = xstrdup(entry->d_name);
	}
	closedir(dir);
	if (count)
		qsort(names, count, sizeof(*names), by_number);
	for (size_t i = 0; i < count; i++) {
		char *folder = xasprintf("%s/%s", bugs, names[i]);

		if (result == 0 && exists(folder, "bug.json"))
			result = add_bug(r, folder, details, loaded, err);
		free(folder);
		free(names[i]);
	}
	free(names);
	return result;
}

static struct report_bug *bug_of(struct report *r, const json_t *named)
{
	const char *id = json_string_value(json_object_get(named, "id"));

	for (size_t i = 0; id && i < r->bug_count; i++)
		if (strcmp(r->bugs[i].id, id) == 0)
			return &r->bugs[i];
	return NULL;
}

static int read_results(struct report *r, struct err *err)
{
	char *path = xasprintf("%s/results.json", r->path);
	json_error_t bad;
	struct report_bug *b;
	json_t *named;
	size_t i;

	r->json = json_load_file(path, 0, &bad);
	if (!json_is_object(r->json))
		err_set(err, "%s:%d: %s", path, bad.line,
			r->json ? "not an object" : bad.text);
	free(path);
	if (!json_is_object(r->json))
		return -1;
	r->program = pool_text(&r->pool, json_string_value(json_object_get(r->json, "program")));
	r->command = report_command(&r->pool, json_object_get(r->json, "arguments"));
	json_array_foreach(json_object_get(r->json, "bugs"), i, named)
		if ((b = bug_of(r, named)))
			b->current = true;
	json_array_foreach(json_object_get(json_object_get(r->json, "baseline"), "known"), i, named)
		if ((b = bug_of(r, named)))
			b->known = true;
	report_read_findings(r);
	return 0;
}

int report_open(struct report *r, const char *path, bool details, const struct symbols *loaded,
		struct err *err)
{
	size_t size = strlen(path);
	char *bugs;
	int result;

	*r = (struct report){ 0 };
	while (size > 1 && path[size - 1] == '/')
		size--;
	r->path = pool_bytes(&r->pool, path, size);
	if (access(path, F_OK) < 0)
		return err_set(err, "cannot read %s: %s", path, strerror(errno));
	if (exists(path, "bug.json")) {
		r->single = true;
		result = add_bug(r, r->path, details, loaded, err);
		if (result == 0) {
			r->program = pool_text(&r->pool, r->bugs[0].program);
			r->command = pool_text(&r->pool, r->bugs[0].command);
		}
		return result;
	}
	if (!exists(path, "results.json") && !exists(path, "bugs"))
		return err_set(err, "%s has neither results.json nor bug.json: give a folder that "
			       "snarl hunt or snarl test wrote", path);
	bugs = xasprintf("%s/bugs", r->path);
	result = add_bugs(r, bugs, details, loaded, err);
	free(bugs);
	if (result == 0 && exists(path, "results.json"))
		result = read_results(r, err);
	return result;
}

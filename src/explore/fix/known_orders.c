/*
 * Finds the schedules of saved bugs, and reads them.
 */
#include "explore/fix/known_orders.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), most = strlen(end);

	return size > most && strcmp(text + size - most, end) == 0;
}

static bool is_known(const struct known_orders *k, const struct schedule *s)
{
	for (size_t i = 0; i < k->count; i++)
		if (s->goal_count && checkfix_same_goals(&k->at[i].schedule, s))
			return true;
	return false;
}

static int load_schedule(struct known_orders *k, const char *path, const char *name,
			 struct err *err)
{
	struct checkfix_known known = { .name = NULL };

	if (schedule_read(&known.schedule, path, err) < 0)
		return -1;
	if (is_known(k, &known.schedule)) {
		schedule_free(&known.schedule);
		return 0;
	}
	known.name = xstrdup(name);
	known.path = xstrdup(path);
	k->at = xgrow(k->at, k->count, &k->capacity, sizeof(*k->at));
	k->at[k->count++] = known;
	return 0;
}

static int only_schedules(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && ends_with(entry->d_name, ".txt");
}

/* Loads the other interleavings of a bug that fail: the schedules in its folder interleavings/. */
static int load_interleavings(struct known_orders *k, const char *folder, struct err *err)
{
	char *path = xasprintf("%s/interleavings", folder);
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, only_schedules, versionsort), result = 0;

	for (int i = 0; i < count; i++) {
		char *file = xasprintf("%s/%s", path, entries[i]->d_name);

		if (result == 0)
			result = load_schedule(k, file, file, err);
		free(file);
		free(entries[i]);
	}
	free(entries);
	free(path);
	return result;
}

static int load_bug(struct known_orders *k, const char *folder, struct err *err)
{
	char *path = xasprintf("%s/schedule.txt", folder);
	int result = load_schedule(k, path, folder, err);

	free(path);
	return result < 0 ? -1 : load_interleavings(k, folder, err);
}

static char *read_all(const char *path, struct err *err)
{
	struct buf text = { 0 };
	FILE *f = file_stream_regular(path);
	char *result = NULL;
	size_t got;

	while (f && (got = fread(buf_reserve(&text, 64 << 10), 1, 64 << 10, f)) > 0)
		text.size += got;
	if (f && !ferror(f))
		result = xstrdup(buf_string(&text));
	else
		err_set(err, "cannot read %s: %s", path, strerror(errno));
	if (f)
		fclose(f);
	buf_free(&text);
	return result;
}

/* Loads the bugs that a results.json names: it has paths like "bugs/B001/schedule.txt". */
static int load_results(struct known_orders *k, const char *path, struct err *err)
{
	static const char key[] = "\"bugs/";
	const char *slash = strrchr(path, '/');
	char *text = read_all(path, err), *at = text, *last = NULL;
	int result = text ? 0 : -1;

	while (result == 0 && (at = strstr(at, key))) {
		size_t size = strcspn(at + sizeof(key) - 1, "/\"");
		char *folder = xasprintf("%.*sbugs/%.*s", slash ? (int)(slash - path) + 1 : 0, path,
					 (int)size, at + sizeof(key) - 1);

		at += sizeof(key) - 1 + size;
		if (!last || strcmp(last, folder) != 0)
			result = load_bug(k, folder, err);
		free(last);
		last = folder;
	}
	free(last);
	free(text);
	return result;
}

static int load_folder(struct known_orders *k, const char *folder, struct err *err)
{
	char *results = xasprintf("%s/results.json", folder),
	     *schedule = xasprintf("%s/schedule.txt", folder);
	int result;

	if (is_file(schedule))
		result = load_bug(k, folder, err);
	else if (is_file(results))
		result = load_results(k, results, err);
	else
		result = err_set(
			err,
			"%s has neither schedule.txt nor results.json: it is no folder of a bug "
			"or of results",
			folder);
	free(results);
	free(schedule);
	return result;
}

int known_orders_load(struct known_orders *k, const char *bug, struct err *err)
{
	char *path = xstrdup(bug);
	int result;

	for (size_t size = strlen(path); size > 1 && path[size - 1] == '/';)
		path[--size] = '\0';
	if (is_folder(path))
		result = load_folder(k, path, err);
	else if (ends_with(path, ".json"))
		result = load_results(k, path, err);
	else
		result = load_schedule(k, path, path, err);
	free(path);
	return result;
}

void known_orders_free(struct known_orders *k)
{
	for (size_t i = 0; i < k->count; i++)
		checkfix_known_free(&k->at[i]);
	free(k->at);
}

/*
 * Reads the files beside bug.json (the schedule, the schedule of a run that passes, the program's
 * output) and the lines of source that reports show.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "explore/schedule/schedule.h"
#include "report/model.h"
#include "sched/strategy.h"
#include "symbol/symbol.h"

#define OUTPUT_MAX (64u << 10)	/* bytes of each stream that reports show */
#define SOURCE_MAX (16u << 20)	/* bytes; larger files are not read */

/*
 * Appends the content of a file. Returns false if it cannot be read or has more than `most` bytes.
 */
static bool slurp(const char *path, size_t most, struct buf *out)
{
	FILE *f = file_stream_regular(path);
	size_t got;

	if (!f)
		return false;
	do {
		got = fread(buf_reserve(out, 1 << 16), 1, 1 << 16, f);
		out->size += got;
	} while (got > 0 && out->size <= most);
	fclose(f);
	return out->size <= most;
}

static const char *turn_text(struct report_bug *b, const struct schedule_turn *t)
{
	switch (t->kind) {
	case SCHED_TURN_EXPIRE: return "its time-out expires";
	case SCHED_TURN_WAKE: return "is chosen to wake up";
	case SCHED_TURN_SIGNAL:
		return pool_format(&b->pool, "receives signal %llu", (unsigned long long)t->steps);
	default:
		if (t->steps == SCHED_NO_LIMIT)
			return "runs until the end";
		return pool_format(&b->pool, "%llu step%s", (unsigned long long)t->steps,
				   t->steps == 1 ? "" : "s");
	}
}

static bool read_turns(struct report_bug *b, const char *name, struct report_turns *out,
		       struct err *err)
{
	char *path = xasprintf("%s/%s", b->path, name);
	struct schedule s = { 0 };
	bool ok = schedule_read(&s, path, err) == 0;

	free(path);
	if (!ok)
		return false;
	out->count = s.turn_count;
	out->at = xcalloc(s.turn_count + 1, sizeof(*out->at));
	for (size_t i = 0; i < s.turn_count; i++) {
		const struct schedule_turn *t = &s.turns[i];

		out->at[i].thread = t->thread < s.threads.count ?
			pool_text(&b->pool, s.threads.items[t->thread]) : "?";
		out->at[i].what = turn_text(b, t);
	}
	schedule_free(&s);
	return true;
}

static bool same_turn(const struct report_turn *a, const struct report_turn *b)
{
	return strcmp(a->thread, b->thread) == 0 && strcmp(a->what, b->what) == 0;
}

/* The name if it is a file of the folder itself, else NULL. */
static const char *file_of(const json_t *name)
{
	const char *text = json_string_value(name);

	return text && !strchr(text, '/') ? text : NULL;
}

static void read_difference(struct report_bug *b, const json_t *difference)
{
	json_t *failing = json_object_get(difference, "failing"),
	       *passing = json_object_get(difference, "passing");
	json_int_t event = json_integer_value(json_object_get(difference, "event"));

	if (event <= 0)
		return;
	b->difference_event = (uint64_t)event;
	if (json_is_object(failing))
		report_read_site(b, failing, &b->difference_failing);
	if (json_is_object(passing))
		report_read_site(b, passing, &b->difference_passing);
}

/*
 * Reads the member "passing", an object or, in files of older versions, the name of the schedule.
 * Returns the name of the schedule.
 */
static const char *read_passing(struct report_bug *b, const struct symbols *loaded)
{
	const json_t *passing = json_object_get(b->json, "passing");
	const char *trace = file_of(json_object_get(passing, "trace"));

	if (!json_is_object(passing))
		return file_of(passing);
	read_difference(b, json_object_get(passing, "first_difference"));
	if (trace)
		report_read_passing(b, trace, loaded);
	return file_of(json_object_get(passing, "schedule"));
}

void report_read_schedule(struct report_bug *b, const struct symbols *loaded)
{
	const char *passing = read_passing(b, loaded);
	struct err err;
	size_t i = 0;

	if (!read_turns(b, "schedule.txt", &b->failing, &err) && !strstr(err.text, "No such file"))
		report_note(b, "The schedule is not shown: %s", err.text);
	if (!passing || !read_turns(b, passing, &b->passing, &err))
		return;
	b->passing_schedule = pool_text(&b->pool, passing);
	while (i < b->failing.count && i < b->passing.count &&
	       same_turn(&b->failing.at[i], &b->passing.at[i]))
		i++;
	if (i < b->failing.count || i < b->passing.count)
		b->first_different_turn = i;
}

/* The last OUTPUT_MAX bytes of what the run printed; NULL: nothing. */
static const char *read_output(struct report_bug *b, const char *name)
{
	char *path = xasprintf("%s/%s", b->path, name);
	const char *result = NULL;
	struct buf text = { 0 };
	size_t size;

	if (slurp(path, 64u << 20, &text)) {
		size = text.size;
		while (size && text.data[size - 1] == '\n')
			size--;
		if (size > OUTPUT_MAX)
			result = pool_format(&b->pool, "… the first %zu bytes are not shown\n%s",
					     size - OUTPUT_MAX,
					     pool_bytes(&b->pool,
							(char *)text.data + size - OUTPUT_MAX,
							OUTPUT_MAX));
		else if (size)
			result = pool_bytes(&b->pool, (char *)text.data, size);
	}
	buf_free(&text);
	free(path);
	return result;
}

void report_read_output(struct report_bug *b)
{
	b->output = read_output(b, "stdout");
	b->errors = read_output(b, "stderr");
}

struct source {
	struct buf text;	/* content; empty: nothing to show */
	const char *path;	/* path at which it was found; NULL: not found */
};

/* The sources looked up so far, each read once. */
struct sources {
	struct report_bug *bug;
	struct strmap index;	/* name in the debug information to index in `at`, plus 1 */
	struct source *at;
	size_t count, capacity;
	char *folders[3];	/* folders that relative names may start from; NULL: unknown */
	struct timespec built;	/* modification time of the program; 0: unknown */
	bool changed;		/* a note says that a source is newer than the program */
};

static bool later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* The file that load_from() looks for in one folder after the other. */
struct wanted {
	struct sources *sources;
	const char *name;
	struct source *out;
};

/*
 * Whether a path looks like a source. Debug information may name any file, and a report that shows
 * lines of it is passed on: it must not show keys or passwords.
 */
static bool is_source(const char *path)
{
	static const char *const endings[] = {
		".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx", ".h++",
		".H", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".def", ".l", ".y", ".ll", ".yy",
		".re", ".S", ".s",
	};
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(endings); i++)
		if (strcmp(dot, endings[i]) == 0)
			return true;
	return !dot && strstr(path, "/include/");	/* <vector> and the like */
}

/* Looks for the file in `folder`. Returns false if it is not there. */
static bool load_from(void *ctx, const char *folder)
{
	struct wanted *w = ctx;
	struct sources *s = w->sources;
	char *path = *w->name == '/' ? xstrdup(w->name) : xasprintf("%s/%s", folder, w->name);
	struct stat st;
	bool found = stat(path, &st) == 0 && S_ISREG(st.st_mode);
	char *real = found ? realpath(path, NULL) : NULL;	/* a link may lead elsewhere */

	if (found && s->built.tv_sec && later(&st.st_mtim, &s->built)) {
		if (!s->changed)
			report_note(s->bug,
				    "%s has changed since the program was built: its lines are not "
				    "shown",
				    w->name);
		s->changed = true;
	} else if (found && real && is_source(real) && !slurp(path, SOURCE_MAX, &w->out->text)) {
		buf_clear(&w->out->text);
	}
	if (found)
		w->out->path = pool_text(&s->bug->pool, path);
	free(path);
	free(real);
	return found;
}

static void load_source(struct sources *s, const char *name, struct source *out)
{
	struct wanted w = { s, name, out };

	if (*name == '/') {
		load_from(&w, "");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(s->folders); i++)
		if (s->folders[i] && load_from(&w, s->folders[i]))
			return;
	if (s->bug->program)
		symbol_folders(s->bug->program, load_from, &w);
}

/* A line without indentation, each run of blanks replaced by a single one. */
static const char *without_blanks(struct report_bug *b, const char *p, const char *end)
{
	struct buf line = { 0 };
	const char *text;

	for (; p < end; p++)
		if (!strchr(" \t\r\f\v", *p))
			buf_add_char(&line, *p);
		else if (line.size && line.data[line.size - 1] != ' ')
			buf_add_char(&line, ' ');
	if (line.size && line.data[line.size - 1] == ' ')
		line.size--;
	text = line.size ? pool_bytes(&b->pool, line.data, line.size) : NULL;
	buf_free(&line);
	return text;
}

static struct source *source_of(struct sources *s, const char *file)
{
	bool added;
	uint64_t *slot = strmap_put(&s->index, file, strlen(file), &added);

	if (added) {
		s->at = xgrow(s->at, s->count, &s->capacity, sizeof(*s->at));
		s->at[s->count] = (struct source){ 0 };
		*slot = ++s->count;
		load_source(s, file, &s->at[s->count - 1]);
	}
	return &s->at[*slot - 1];
}

static const char *source_line(struct sources *s, struct source *source, unsigned line)
{
	const char *p = buf_string(&source->text);

	while (--line && p)
		p = (p = strchr(p, '\n')) ? p + 1 : NULL;
	if (!p)
		return NULL;
	return without_blanks(s->bug, p, p + strcspn(p, "\n"));
}

static void add_source(struct sources *s, struct report_place *at)
{
	struct source *source = at->file ? source_of(s, at->file) : NULL;

	if (!source)
		return;
	at->path = source->path;
	if (at->line)
		at->source = source_line(s, source, at->line);
}

static void all_sources(struct sources *s)
{
	struct report_bug *b = s->bug;

	for (size_t i = 0; i < b->site_count; i++)
		add_source(s, &b->sites[i].at);
	for (size_t i = 0; i < b->step_count; i++) {
		add_source(s, &b->steps[i].at);
		for (size_t k = 0; k < b->steps[i].stack_count; k++)
			add_source(s, &b->steps[i].stack[k]);
	}
	for (size_t i = 0; i < b->interleaving_count; i++)
		for (size_t k = 0; k < b->interleavings[i].count; k++)
			add_source(s, &b->interleavings[i].events[k].at);
}

void report_read_sources(struct report_bug *b)
{
	struct sources s = { .bug = b };
	struct schedule schedule = { 0 };
	struct stat st;
	struct err err;
	char *path = xasprintf("%s/schedule.txt", b->path), *slash;

	if (schedule_read(&schedule, path, &err) == 0 && schedule.directory)
		s.folders[0] = xstrdup(schedule.directory);
	schedule_free(&schedule);
	free(path);
	if (b->program && *b->program == '/') {
		s.folders[1] = xstrdup(b->program);
		slash = strrchr(s.folders[1], '/');
		*slash = '\0';
		if (stat(b->program, &st) == 0)
			s.built = st.st_mtim;
	}
	s.folders[2] = xstrdup(".");
	all_sources(&s);
	for (size_t i = 0; i < s.count; i++)
		buf_free(&s.at[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(s.folders); i++)
		free(s.folders[i]);
	free(s.at);
	strmap_free(&s.index);
}

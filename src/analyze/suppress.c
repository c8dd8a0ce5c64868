#include "analyze/suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct line {
	enum suppress_type type;
	char *pattern;
};

struct suppressions {
	struct line *lines;
	size_t count, capacity;
};

static const char *const type_names[SUPPRESS_TYPES] = {
	[SUPPRESS_RACE] = "race", [SUPPRESS_RACE_TOP] = "race_top",
	[SUPPRESS_DEADLOCK] = "deadlock", [SUPPRESS_MUTEX] = "mutex",
	[SUPPRESS_THREAD] = "thread", [SUPPRESS_SIGNAL] = "signal",
	[SUPPRESS_CALLED_FROM_LIB] = "called_from_lib",
};

struct suppressions *suppress_new(void)
{
	return xcalloc(1, sizeof(struct suppressions));
}

void suppress_free(struct suppressions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->lines[i].pattern);
	free(s->lines);
	free(s);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int parse_line(struct suppressions *s, const char *at, const char *end, struct err *err)
{
	const char *colon;
	size_t type = 0;

	while (at < end && is_space(*at))
		at++;
	while (end > at && is_space(end[-1]))
		end--;
	if (at == end || *at == '#')
		return 0;
	if (memchr(at, '\0', (size_t)(end - at)))
		return err_set(err, "a zero byte: not a text file");
	colon = memchr(at, ':', (size_t)(end - at));
	if (!colon)
		return err_set(err,
			       "no ':' in '%.*s'; a line is 'type:pattern', as in race:my_function",
			       (int)(end - at), at);
	while (type < SUPPRESS_TYPES && (strncmp(type_names[type], at, (size_t)(colon - at)) != 0 ||
					 type_names[type][colon - at]))
		type++;
	if (type == SUPPRESS_TYPES)
		return err_set(err,
			       "no type '%.*s'; there are race, race_top, deadlock, mutex, thread, "
			       "signal and called_from_lib", (int)(colon - at), at);
	if (colon + 1 == end)
		return err_set(err, "nothing after '%s:'", type_names[type]);
	s->lines = xgrow(s->lines, s->count, &s->capacity, sizeof(*s->lines));
	s->lines[s->count++] = (struct line){ (enum suppress_type)type,
					      xstrndup(colon + 1, (size_t)(end - colon) - 1) };
	return 0;
}

int suppress_parse(struct suppressions *s, const char *name, const char *text, size_t size,
		   struct err *err)
{
	const char *end = text + size;
	unsigned long number = 1;

	for (; text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		struct err why;

		if (parse_line(s, text, stop, &why) < 0)
			return err_set(err, "%s:%lu: %s", name, number, why.text);
		text = stop + 1;
	}
	return 0;
}

int suppress_read(struct suppressions *s, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	struct buf text = { 0 };
	char block[4096];
	size_t got;
	int result;

	if (!f)
		return err_set(err, "cannot open the suppressions %s: %s", path, strerror(errno));
	errno = 0;
	while ((got = fread(block, 1, sizeof(block), f)) > 0)
		buf_add(&text, block, got);
	if (ferror(f))
		result = err_set(err, "cannot read the suppressions %s: %s", path, strerror(errno));
	else
		result = suppress_parse(s, path, buf_string(&text), text.size, err);
	fclose(f);
	buf_free(&text);
	return result;
}

/* Whether pattern..end matches all of the name. Backtracking to the last `*` is sufficient. */
static bool glob(const char *pattern, const char *end, const char *name)
{
	const char *star = NULL, *resume = NULL;

	for (;;) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (pattern < end && *name && *pattern == *name) {
			pattern++;
			name++;
		} else if (pattern == end && !*name) {
			return true;
		} else if (star && *resume) {
			pattern = star;
			name = ++resume;
		} else {
			return false;
		}
	}
}

bool suppress_match(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);
	bool from_start = *pattern == '^', to_end;
	struct buf whole = { 0 };
	bool matches;

	if (!name || !*name)
		return false;
	pattern += from_start;
	length -= from_start;
	to_end = length > 0 && pattern[length - 1] == '$';
	length -= to_end;
	buf_addf(&whole, "%s%.*s%s", from_start ? "" : "*", (int)length, pattern,
		 to_end ? "" : "*");
	matches = glob(buf_string(&whole), buf_string(&whole) + whole.size, name);
	buf_free(&whole);
	return matches;
}

bool suppress_name(const struct suppressions *s, enum suppress_type type, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->lines[i].type == type && suppress_match(s->lines[i].pattern, name))
			return true;
	return false;
}

bool suppress_frames(const struct suppressions *s, enum suppress_type type,
		     const struct symbol_frame *frames, size_t count, const char *module)
{
	for (size_t i = 0; i < count; i++)
		if (suppress_name(s, type, frames[i].function) ||
		    suppress_name(s, type, frames[i].file))
			return true;
	return suppress_name(s, type, module);
}

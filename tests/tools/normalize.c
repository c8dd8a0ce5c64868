/*
 * From `snarl dump --json` to lines that are the same in every run of a
 * deterministic program; tests/programs/README.md says what they look like.
 *
 *   normalize default|all|CLASS,CLASS…[+lines] < events.json
 *
 * +lines adds FILE:LINE to the function.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "trace/read/kinds.h"

struct thread {
	char *name;
	struct buf lines;
};

struct normal {
	bool wanted[TRACE_CLASS_USER + 1];
	bool lines;
	struct thread *threads;
	size_t count, room;
};

static void die(const char *what, const char *detail)
{
	fprintf(stderr, "normalize: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
	exit(3);
}

static void classes_parse(struct normal *n, char *text)
{
	char *plus = strchr(text, '+');

	if (plus) {
		n->lines = strcmp(plus, "+lines") == 0;
		*plus = '\0';
	}
	if (strcmp(text, "default") == 0 || strcmp(text, "all") == 0) {
		for (unsigned c = TRACE_CLASS_ACCESS; c <= TRACE_CLASS_USER; c++)
			n->wanted[c] = text[0] == 'a' ||
				(c != TRACE_CLASS_ACCESS && c != TRACE_CLASS_FUNC &&
				 c != TRACE_CLASS_ATOMIC && c != TRACE_CLASS_HEAP);
		return;
	}
	for (char *word = strtok(text, ", "); word; word = strtok(NULL, ", ")) {
		bool found = false;

		for (unsigned c = TRACE_CLASS_ACCESS; c <= TRACE_CLASS_USER; c++)
			if (strcasecmp(kind_class_name(c), word) == 0)
				found = n->wanted[c] = true;
		if (!found)
			die("no such class of events", word);
	}
}

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* The system's libraries; the program's own may lie anywhere else. */
static bool module_foreign(const char *module)
{
	static const char *const names[] = {
		"libc.so", "libc-", "libpthread", "libstdc++", "libgcc_s", "libm.so", "libm-",
		"ld-linux", "ld-", "libdl", "librt", "[vdso]", "linux-vdso",
	};
	const char *slash = strrchr(module, '/');
	const char *base = slash ? slash + 1 : module;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Whether the kind's object means anything, see README. */
static bool kind_has_object(unsigned kind)
{
	switch (kind) {
	case TRACE_THREAD_START: case TRACE_THREAD_EXIT: case TRACE_FENCE:
	case TRACE_FUNC_ENTRY: case TRACE_FUNC_EXIT: case TRACE_SLEEP: case TRACE_YIELD:
	case TRACE_FORK: case TRACE_EXEC: case TRACE_EXIT: case TRACE_SIGNAL_ENTER:
	case TRACE_SIGNAL_LEAVE: case TRACE_JUMP:
		return false;
	default:
		return true;
	}
}

static bool kind_is_about_thread(unsigned kind)
{
	return kind == TRACE_THREAD_CREATE || kind == TRACE_THREAD_JOIN ||
	       kind == TRACE_THREAD_DETACH || kind == TRACE_THREAD_CANCEL;
}

static bool kind_has_result(unsigned kind)
{
	switch (kind_class(kind)) {
	case TRACE_CLASS_MUTEX: case TRACE_CLASS_RWLOCK: case TRACE_CLASS_SPIN:
	case TRACE_CLASS_COND: case TRACE_CLASS_SEM: case TRACE_CLASS_BARRIER:
	case TRACE_CLASS_ONCE:
		return true;
	case TRACE_CLASS_THREAD:
		return kind != TRACE_THREAD_START && kind != TRACE_THREAD_EXIT;
	default:
		return kind == TRACE_CALL_LEAVE || kind == TRACE_SLEEP ||
		       kind == TRACE_FUTEX_WAIT || kind == TRACE_FUTEX_WAKE;
	}
}

static void add_object(struct buf *out, const json_t *event, unsigned kind)
{
	const json_t *object = json_object_get(event, "object");
	const char *what = string_of(object, "kind"), *name = string_of(object, "name");
	const char *other = string_of(event, "other");
	json_int_t offset = json_integer_value(json_object_get(object, "offset"));

	if (kind_is_about_thread(kind)) {
		buf_add_text(out, other ? other : "?");
	} else if (!kind_has_object(kind) || !json_object_get(event, "addr")) {
		buf_add_char(out, '-');
	} else if (kind == TRACE_OUTPUT || kind == TRACE_CALL_ENTER || kind == TRACE_CALL_LEAVE) {
		buf_add_text(out, "fd");
	} else if (!what || strcmp(what, "raw") == 0) {
		buf_add_char(out, '?');
	} else if (strcmp(what, "global") == 0) {
		buf_add_text(out, name ? name : "?");
		if (offset)
			buf_addf(out, "+%lld", (long long)offset);
	} else {
		buf_add_text(out, what);
	}
}

static void add_result(struct buf *out, const json_t *event)
{
	const char *name = string_of(event, "error");

	if (name)
		buf_addf(out, " =%s", name);
	else
		buf_addf(out, " =%d", (int)json_integer_value(json_object_get(event, "result")));
}

static struct thread *thread_of(struct normal *n, const char *name)
{
	for (size_t i = n->count; i > 0; i--)
		if (strcmp(n->threads[i - 1].name, name) == 0)
			return &n->threads[i - 1];
	n->threads = xgrow(n->threads, n->count, &n->room, sizeof(*n->threads));
	n->threads[n->count] = (struct thread){ .name = xstrdup(name) };
	return &n->threads[n->count++];
}

static void add_function(struct buf *out, const json_t *event, bool lines)
{
	const char *function = string_of(event, "function"), *file = string_of(event, "file");

	buf_add_text(out, function && strcmp(function, "??") != 0 ? function : "-");
	if (lines && file) {
		const char *slash = strrchr(file, '/');

		buf_addf(out, " %s:%d", slash ? slash + 1 : file,
			 (int)json_integer_value(json_object_get(event, "line")));
	}
}

static void event_add(struct normal *n, const json_t *event)
{
	const char *name = string_of(event, "thread"), *text = string_of(event, "op");
	const char *module = string_of(event, "module"), *call = string_of(event, "call");
	struct buf *out;
	int kind;

	if (!text || !name)
		return;		/* not an event: what the dump says about the trace */
	kind = kind_find(text, strlen(text));
	if (kind < 0)
		die("no such kind of event", text);
	if (kind_class((unsigned)kind) == TRACE_CLASS_NONE || !n->wanted[kind_class((unsigned)kind)])
		return;
	if (module && module_foreign(module) && kind != TRACE_THREAD_EXIT)
		return;
	out = &thread_of(n, name)->lines;
	buf_addf(out, "%s %s%s%s ", name, text, call ? ":" : "", call ? call : "");
	add_object(out, event, (unsigned)kind);
	if (kind_has_result((unsigned)kind))
		add_result(out, event);
	buf_add_char(out, ' ');
	if (kind == TRACE_THREAD_EXIT)
		buf_add_char(out, '-');
	else
		add_function(out, event, n->lines);
	buf_add_char(out, '\n');
}

/* By the numbers of the path: 0 0.1 0.2 0.10, then those made outside. */
static int thread_compare(const void *a, const void *b)
{
	const char *x = ((const struct thread *)a)->name, *y = ((const struct thread *)b)->name;

	if (*x == '~' || *y == '~')
		return *x == *y ? strverscmp(x, y) : *x == '~' ? 1 : -1;
	while (*x && *y) {
		char *xe, *ye;
		unsigned long i = strtoul(x, &xe, 10), j = strtoul(y, &ye, 10);

		if (i != j)
			return i < j ? -1 : 1;
		if (xe == x || ye == y)
			break;
		x = *xe == '.' ? xe + 1 : xe;
		y = *ye == '.' ? ye + 1 : ye;
	}
	return (*x != '\0') - (*y != '\0');
}

int main(int argc, char **argv)
{
	struct normal n = { 0 };
	char *line = NULL;
	size_t room = 0;
	ssize_t got;

	if (argc != 2) {
		fprintf(stderr, "usage: normalize default|all|CLASS,…[+lines] < events.json\n");
		return 2;
	}
	classes_parse(&n, argv[1]);
	while ((got = getline(&line, &room, stdin)) > 0) {
		json_error_t error;
		json_t *event = json_loadb(line, (size_t)got, 0, &error);

		if (!event)
			die(error.text, line);
		event_add(&n, event);
		json_decref(event);
	}
	free(line);
	qsort(n.threads, n.count, sizeof(*n.threads), thread_compare);
	for (size_t i = 0; i < n.count; i++) {
		fwrite(n.threads[i].lines.data, 1, n.threads[i].lines.size, stdout);
		buf_free(&n.threads[i].lines);
		free(n.threads[i].name);
	}
	free(n.threads);
	if (fflush(stdout) != 0)
		die("cannot write", NULL);
	return 0;
}

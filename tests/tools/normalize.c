/*
 * Turns the output of `snarl dump --json` into lines that are the same in every run of a
 * deterministic program; tests/programs/README.md describes them.
 *
 *   normalize default|all|CLASS,CLASS…[+lines] < events.json
 *
 * +lines adds FILE:LINE to the function.
 */
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

/*
 * One value of a line, with its key and the key of the object that contains it. A trace may have
 * millions of lines: they are parsed in place, and only strings and numbers are kept.
 */
struct member {
	const char *parent, *key;	/* parent: "" at the top level; key "[]": in an array */
	const char *text;
	bool quoted;			/* a string, which ends with a NUL */
};

struct event {
	struct member members[64];
	size_t count;
};

static const struct member *member_of(const struct event *e, const char *parent, const char *key)
{
	for (size_t i = 0; i < e->count; i++)
		if (strcmp(e->members[i].key, key) == 0 &&
		    strcmp(e->members[i].parent, parent) == 0)
			return &e->members[i];
	return NULL;
}

static const char *string_of(const struct event *e, const char *parent, const char *key)
{
	const struct member *m = member_of(e, parent, key);

	return m && m->quoted ? m->text : NULL;
}

static long long number_of(const struct event *e, const char *parent, const char *key)
{
	const struct member *m = member_of(e, parent, key);

	return m && !m->quoted ? strtoll(m->text, NULL, 10) : 0;
}

/* Writes the character of the escape sequence at `from` as UTF-8 to `to`; moves both. */
static void escape_take(char **from, char **to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter = strchr(letters, *++*from);
	unsigned code;

	if (**from == 'u' && sscanf(*from + 1, "%4x", &code) == 1) {
		if (code >= 0x800)
			*(*to)++ = (char)(0xe0 | code >> 12);
		if (code >= 0x80)
			*(*to)++ =
				(char)(code < 0x800 ? 0xc0 | code >> 6 : 0x80 | (code >> 6 & 0x3f));
		*(*to)++ = (char)(code >= 0x80 ? 0x80 | (code & 0x3f) : code);
		*from += 5;
		return;
	}
	if (!letter || !*letter)
		die("no such escape", *from);
	*(*to)++ = meant[letter - letters];
	++*from;
}

/* Returns the string at `*at`, unescaped in place; moves `*at` behind it. */
static const char *string_take(char **at)
{
	char *from = *at + 1, *to = from;
	const char *start = from;

	if (**at != '"')
		die("no string", *at);
	for (;;) {
		size_t plain = strcspn(from, "\"\\");

		memmove(to, from, plain);
		to += plain;
		from += plain;
		if (*from != '\\')
			break;
		escape_take(&from, &to);
	}
	if (*from != '"')
		die("a string without an end", start);
	*to = '\0';
	*at = from + 1;
	return start;
}

/* Adds the value at `*at` with all its members to e; moves `*at` behind it. */
static void value_take(struct event *e, char **at, const char *parent, const char *key)
{
	char open = **at, close = open == '{' ? '}' : ']';
	const char *text = *at;

	if (open == '{' || open == '[') {
		for (++*at; **at != close; *at += **at == ',') {
			const char *inner = open == '{' ? string_take(at) : "[]";

			if (open == '{' && *(*at)++ != ':')
				die("no value", inner);
			value_take(e, at, key, inner);
			if (**at != ',' && **at != close)
				die("neither another value nor an end", *at);
		}
		++*at;
		return;
	}
	if (open == '"')
		text = string_take(at);
	else
		*at += strcspn(*at, ",]}\n");
	if (e->count == ARRAY_SIZE(e->members))
		die("too many values", text);
	e->members[e->count++] = (struct member){
		.parent = parent, .key = key, .text = text, .quoted = open == '"'
	};
}

static void line_parse(struct event *e, char *line)
{
	char *at = line;

	e->count = 0;
	if (*line != '{')
		die("no JSON object", line);
	value_take(e, &at, "", "");
	if (strcmp(at, "\n") != 0)
		die("more than a JSON object", at);
}

/* Is the module a library of the system? The program's own libraries may lie anywhere else. */
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

/* Does the object of this kind of event mean anything? See tests/programs/README.md. */
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

static void add_object(struct buf *out, const struct event *event, unsigned kind)
{
	const char *what = string_of(event, "object", "kind");
	const char *name = string_of(event, "object", "name");
	const char *other = string_of(event, "", "other");
	long long offset = number_of(event, "object", "offset");

	if (kind_is_about_thread(kind)) {
		buf_add_text(out, other ? other : "?");
	} else if (!kind_has_object(kind) || !member_of(event, "", "addr")) {
		buf_add_char(out, '-');
	} else if (kind == TRACE_OUTPUT || kind == TRACE_CALL_ENTER || kind == TRACE_CALL_LEAVE) {
		buf_add_text(out, "fd");
	} else if (!what || strcmp(what, "raw") == 0) {
		buf_add_char(out, '?');
	} else if (strcmp(what, "global") == 0) {
		buf_add_text(out, name ? name : "?");
		if (offset)
			buf_addf(out, "+%lld", offset);
	} else {
		buf_add_text(out, what);
	}
}

static void add_result(struct buf *out, const struct event *event)
{
	const char *name = string_of(event, "", "error");

	if (name)
		buf_addf(out, " =%s", name);
	else
		buf_addf(out, " =%d", (int)number_of(event, "", "result"));
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

static void add_function(struct buf *out, const struct event *event, bool lines)
{
	const char *function = string_of(event, "", "function");
	const char *file = string_of(event, "", "file");

	buf_add_text(out, function && strcmp(function, "??") != 0 ? function : "-");
	if (lines && file) {
		const char *slash = strrchr(file, '/');

		buf_addf(out, " %s:%d", slash ? slash + 1 : file,
			 (int)number_of(event, "", "line"));
	}
}

static void event_add(struct normal *n, const struct event *event)
{
	const char *name = string_of(event, "", "thread"), *text = string_of(event, "", "op");
	const char *module = string_of(event, "", "module"), *call = string_of(event, "", "call");
	struct buf *out;
	int kind;

	if (!text || !name)
		return;		/* not an event: a line about the trace */
	kind = kind_find(text, strlen(text));
	if (kind < 0)
		die("no such kind of event", text);
	if (kind_class((unsigned)kind) == TRACE_CLASS_NONE ||
	    !n->wanted[kind_class((unsigned)kind)])
		return;
	if (module && module_foreign(module) && kind != TRACE_THREAD_EXIT)
		return;
	out = &thread_of(n, name)->lines;
	buf_add_text(out, name);
	buf_add_char(out, ' ');
	buf_add_text(out, text);
	if (call) {
		buf_add_char(out, ':');
		buf_add_text(out, call);
	}
	buf_add_char(out, ' ');
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

/* Orders by the numbers of the path: 0 0.1 0.2 0.10, then threads made outside pthread_create. */
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
	struct event event;

	if (argc != 2) {
		fprintf(stderr, "usage: normalize default|all|CLASS,…[+lines] < events.json\n");
		return 2;
	}
	classes_parse(&n, argv[1]);
	while (getline(&line, &room, stdin) > 0) {
		line_parse(&event, line);
		event_add(&n, &event);
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

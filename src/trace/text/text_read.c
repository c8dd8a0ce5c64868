/*
 * Text to events, line by line. The first pass over the whole file finds all errors and gives each
 * symbolic name its address; the second pass delivers the events and only looks names up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/read/kinds.h"
#include "trace/text/text_internal.h"
#include "trace/text/text_words.h"

/* An event line while it is parsed. */
struct line {
	struct event ev;
	unsigned positional;	/* number of positional words so far */
	bool has_time, has_arg, has_detail, has_size, has_order, has_stack;
};

/* The address of a symbolic name: base, base + step, and so on. */
static uint64_t symbol(struct text *t, struct strmap *map, const char *kind, struct token name,
		       uint64_t base, uint64_t step)
{
	bool added;
	uint64_t *value = strmap_put(map, name.text, name.size, &added);

	if (added) {
		char *key, *text = xstrndup(name.text, name.size);

		*value = base + (map->used - 1) * step;
		key = xasprintf("%s:%#llx", kind, (unsigned long long)*value);
		catalog_add_meta(t->catalog, key, text);
		free(key);
		free(text);
	}
	return *value;
}

/* Parses a number, `name` or `name+offset`. */
static int object(struct text *t, struct token tok, uint64_t *out)
{
	const char *plus = memchr(tok.text, '+', tok.size);
	struct token name = { tok.text, plus ? (size_t)(plus - tok.text) : tok.size };
	uint64_t offset = 0;

	if (!tok.size || !text_word_start(*tok.text))
		return text_number(tok, out)
			       ? 0
			       : text_bad(t, "not an object (0x7f00, name, name+8):", tok);
	if (plus && (!text_number((struct token){ plus + 1, tok.size - name.size - 1 }, &offset) ||
		     offset >= TEXT_OBJECT_STEP))
		return text_bad(t, "an offset must be below 4096:", tok);
	*out = symbol(t, &t->objects, "object", name, TEXT_OBJECT_BASE, TEXT_OBJECT_STEP) + offset;
	return 0;
}

static int address(struct text *t, struct token tok, uint64_t *out)
{
	if (object(t, tok, out) < 0)
		return -1;
	return *out > TRACE_ADDR_MASK ? text_bad(t, "an address has at most 48 bits:", tok) : 0;
}

/* Parses `object[:size]` of an access. */
static int location(struct text *t, struct line *l, struct token tok)
{
	const char *colon = memchr(tok.text, ':', tok.size);
	struct event *ev = &l->ev;
	uint64_t size;

	if (colon) {
		struct token rest = { colon + 1, tok.size - (size_t)(colon + 1 - tok.text) };

		if (!text_number(rest, &size))
			return text_bad(t, "not a size:", rest);
		tok.size = (size_t)(colon - tok.text);
		l->has_size = true;
		if (!kind_has_size(ev->kind)) {
			ev->arg = size;
		} else {
			if (!size || size & (size - 1) || size > 128)
				return text_bad(t, "a size must be 1, 2, 4, 8 or 16:", rest);
			ev->detail = (uint8_t)((ev->detail & ~TRACE_SIZE_MASK) |
					       (unsigned)__builtin_ctzll(size));
		}
	}
	return address(t, tok, &ev->addr);
}

static int argument(struct text *t, struct line *l, struct token tok)
{
	int kind;

	if (l->has_arg || !kind_extra(l->ev.kind))
		return text_bad(t, "unexpected word:", tok);
	l->has_arg = true;
	if (text_arg_form(l->ev.kind) == TEXT_ARG_KIND &&
	    (kind = kind_find(tok.text, tok.size)) >= 0) {
		l->ev.arg = (uint64_t)kind;
		return 0;
	}
	return object(t, tok, &l->ev.arg);
}

static int thread_argument(struct text *t, struct line *l, struct token tok)
{
	struct token rest = { tok.text + 1, tok.size - 1 };

	l->has_arg = true;
	if (*tok.text == '?' && !strmap_find(&t->threads, tok.text, tok.size) &&
	    text_number(rest, &l->ev.arg))
		return 0;	/* a thread that has no events in the trace */
	return text_thread(t, tok, &l->ev.arg);
}

static int positional(struct text *t, struct line *l, struct token tok)
{
	unsigned kind = l->ev.kind, n = l->positional++;
	int call;

	if (text_arg_form(kind) == TEXT_ARG_THREAD) {
		if (n == 0)
			return thread_argument(t, l, tok);
	} else if (kind == TRACE_CALL_ENTER || kind == TRACE_CALL_LEAVE) {
		call = n ? 0 : call_find(tok.text, tok.size);
		if (call < 0)
			return text_bad(t, "unknown call:", tok);
		if (n == 0) {
			if (!l->has_detail)
				l->ev.detail |= (uint8_t)call;
			return 0;
		}
	} else {
		n++;
	}
	if (n == 1)
		return kind_has_size(kind) || kind_class(kind) == TRACE_CLASS_ACCESS ?
			       location(t, l, tok) : address(t, tok, &l->ev.addr);
	return argument(t, l, tok);
}

static int site(struct text *t, struct line *l, struct token tok)
{
	if (!tok.size)
		return text_bad(t, "a pc or label must follow", (struct token){ "@", 1 });
	if (tok.text[0] >= '0' && tok.text[0] <= '9') {
		if (!text_number(tok, &l->ev.pc) || l->ev.pc > TRACE_ADDR_MASK)
			return text_bad(t, "not a pc (a label must not begin with a digit):", tok);
		return 0;
	}
	l->ev.pc = symbol(t, &t->labels, "label", tok, TEXT_LABEL_BASE, TEXT_LABEL_STEP);
	return 0;
}

static int result(struct text *t, struct line *l, struct token tok)
{
	uint64_t v;

	if (text_number(tok, &v) && v <= UINT16_MAX) {
		l->ev.result = (uint16_t)v;
		return 0;
	}
	for (int e = 1; e < 256; e++) {
		const char *name = strerrorname_np(e);

		if (name && text_is(tok, name)) {
			l->ev.result = (uint16_t)e;
			return 0;
		}
	}
	return text_bad(t, "not an errno:", tok);
}

static bool detail_word(struct line *l, struct token tok)
{
	for (const struct text_word *w = text_words(l->ev.kind); w && w->name; w++)
		if (text_is(tok, w->name)) {
			if (!l->has_detail)
				l->ev.detail = (uint8_t)((l->ev.detail & ~w->mask) | w->bits);
			l->has_order = true;
			return true;
		}
	return false;
}

/* Parses `key=value`. Returns 1, 0 if the word is no such pair, or -1. */
static int key_value(struct text *t, struct line *l, struct token tok)
{
	struct token v;
	uint64_t n;
	int order;

	if (text_is_key(tok, "t", &v)) {
		l->has_time = true;
		return text_number(v, &l->ev.time) ? 1 : text_bad(t, "not a time:", v);
	}
	if (text_is_key(tok, "arg", &v))
		return argument(t, l, v) < 0 ? -1 : 1;
	if (text_is_key(tok, "detail", &v)) {
		l->has_detail = true;
		if (!text_number(v, &n) || n > UINT8_MAX)
			return text_bad(t, "not a detail:", v);
		l->ev.detail = (uint8_t)n;
		return 1;
	}
	if (text_is_key(tok, "fail", &v)) {
		order = order_find(v.text, v.size);
		if (order < 0)
			return text_bad(t, "not a memory order:", v);
		l->ev.result = (uint16_t)order;
		return 1;
	}
	if (text_is_key(tok, "stack", &v)) {
		l->has_stack = true;
		if (l->ev.kind != TRACE_THREAD_START ||
		    !text_range(v, &l->ev.extra[0], &l->ev.extra[1]))
			return text_bad(t, "not the bounds of a stack:", v);
		return 1;
	}
	return 0;
}

static int field(struct text *t, struct line *l, struct token tok)
{
	struct token rest = { tok.text + 1, tok.size - 1 };
	int got;

	if (*tok.text == '@')
		return site(t, l, rest);
	if (*tok.text == '=')
		return result(t, l, rest);
	got = key_value(t, l, tok);
	if (got)
		return got < 0 ? -1 : 0;
	return detail_word(l, tok) ? 0 : positional(t, l, tok);
}

/* Fills in defaults: sequentially consistent atomics, 4 bytes, the thread's parent. */
static void complete(struct text *t, struct line *l)
{
	struct event *ev = &l->ev;
	const struct reader_thread *thread = catalog_find(t->catalog, ev->thread);

	if (kind_class(ev->kind) == TRACE_CLASS_ATOMIC && !l->has_order && !l->has_detail)
		ev->detail |= __ATOMIC_SEQ_CST << TRACE_ORDER_SHIFT;
	if (kind_has_size(ev->kind)) {
		if (!l->has_size && !l->has_detail)
			ev->detail |= 2;
		ev->size = 1ull << (ev->detail & TRACE_SIZE_MASK);
	} else if (trace_roles(ev->kind) & ROLE_RANGE) {
		ev->size = ev->arg;
	}
	if (ev->kind == TRACE_THREAD_START) {
		if (!l->has_arg)
			ev->arg = (uint64_t)thread->parent << 32 | thread->ordinal;
		if (!l->has_stack) {
			ev->extra[0] = 0;
			ev->extra[1] = 0;
		}
	}
}

/* Parses an event line. `first` is the thread, `at` the rest of the line. */
static int event_line(struct text *t, struct token first, const char *at, const char *end,
		      struct event *out)
{
	struct line l = { 0 };
	struct token tok;
	uint64_t id;
	int kind;

	if (text_thread(t, first, &id) < 0)
		return -1;
	l.ev.thread = (uint32_t)id;
	if (!text_token(&at, end, &tok))
		return text_bad(t, "an event kind must follow thread", first);
	kind = kind_find(tok.text, tok.size);
	if (kind <= TRACE_STAMP || kind == TRACE_LOOP || kind == TRACE_BUNCH)
		return text_bad(t, "not an event kind:", tok);
	l.ev.kind = (uint16_t)kind;
	while (text_token(&at, end, &tok))
		if (field(t, &l, tok) < 0)
			return -1;
	if (!l.has_time)
		l.ev.time = t->time + (t->time < UINT64_MAX);
	else if (l.ev.time < t->time)
		return err_set(t->err, "line %lu: time goes back from %llu to %llu", t->line,
			       (unsigned long long)t->time, (unsigned long long)l.ev.time);
	t->time = l.ev.time;
	complete(t, &l);
	*out = l.ev;
	return 0;
}

/* Parses lines up to the next event. Returns 1, 0 at the end, or -1. */
static int next_line(struct text *t, struct event *ev)
{
	while (t->at < t->end) {
		const char *at = t->at, *nl = memchr(at, '\n', (size_t)(t->end - at));
		const char *end = nl ? nl : t->end;
		struct token first;
		int got = 0;

		t->at = nl ? nl + 1 : t->end;
		t->line++;
		if (!text_token(&at, end, &first))
			continue;
		if (t->line == 1)
			continue;	/* check_first_line() parsed it */
		if (!text_word_start(*first.text)) {
			got = event_line(t, first, at, end, ev);
			return got < 0 ? -1 : 1;
		}
		if (t->first_pass)
			got = text_directive(t, first, at, end);
		if (got < 0)
			return -1;
	}
	return 0;
}

static int check_first_line(struct text *t)
{
	const char *at = t->data, *nl = memchr(at, '\n', (size_t)(t->end - at));
	const char *end = nl ? nl : t->end;
	struct token magic, version;
	uint64_t v;

	t->line = 1;
	if (!text_token(&at, end, &magic) || !text_is(magic, TEXT_MAGIC) ||
	    !text_token(&at, end, &version) || !text_number(version, &v))
		return err_set(t->err, "line 1: a text trace begins with '" TEXT_MAGIC " %u'",
			       TEXT_VERSION);
	if (v > TEXT_VERSION)
		return err_set(
			t->err,
			"made by a newer snarl (text format %llu, this one reads %u): update snarl",
			(unsigned long long)v, TEXT_VERSION);
	return 0;
}

/* Sets each thread's parent and ordinal from its name, and adds parents without lines. */
static int find_parents(struct text *t)
{
	for (size_t i = 0; i < t->catalog->thread_count; i++) {
		const char *name = t->catalog->threads[i].name;
		ptrdiff_t last = catalog_name_split(name, strlen(name));
		uint64_t parent = 0, ordinal = 0;

		if (last > 0 &&
		    text_thread(t, (struct token){ name, (size_t)last - 1 }, &parent) < 0)
			return -1;
		if (last > 0 || *name == '~')
			ordinal = strtoull(name + last + (name[last] == '~'), NULL, 10);
		t->catalog->threads[i].parent = (uint32_t)parent;
		t->catalog->threads[i].ordinal = (uint32_t)ordinal;
	}
	return 0;
}

struct text *text_open(const char *data, size_t size, struct catalog *c,
		       struct trace_header *header, struct err *err)
{
	struct text *t = xcalloc(1, sizeof(*t));
	struct map none = { 0 };
	struct event ev;
	int got;

	*t = (struct text){
		.data = data, .at = data, .end = data + size, .catalog = c, .header = header,
		.next_id = 1, .first_pass = true, .err = err,
	};
	*header = (struct trace_header){
		.magic = TRACE_MAGIC, .version = TRACE_VERSION, .size = sizeof(*header),
		.flags = TRACE_TOTAL_ORDER,
	};
	got = check_first_line(t);
	text_rewind(t);
	while (got >= 0 && (got = next_line(t, &ev)) > 0)
		if (ev.kind == TRACE_THREAD_START && ev.extra[1]) {
			struct reader_thread *thread = catalog_find(c, ev.thread);

			thread->stack_low = ev.extra[0];
			thread->stack_high = ev.extra[1];
		}
	if (got < 0 || find_parents(t) < 0) {
		text_close(t);
		return NULL;
	}
	catalog_name_threads(c, &none);
	text_rewind(t);
	t->first_pass = false;
	t->err = NULL;
	return t;
}

void text_close(struct text *t)
{
	if (!t)
		return;
	strmap_free(&t->threads);
	strmap_free(&t->objects);
	strmap_free(&t->labels);
	free(t);
}

void text_rewind(struct text *t)
{
	t->at = t->data;
	t->line = 0;
	t->time = 0;
}

int text_next(struct text *t, struct event *ev)
{
	return next_line(t, ev);
}

/*
 * The lines of a text trace that are not events:
 *
 *   begin start=N unix=N pid=N [unfiltered]
 *   thread NAME id=N [stack=LOW-HIGH]
 *   module BASE START-END [t=N] BUILD-ID PATH
 *   meta KEY VALUE
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/text/text_internal.h"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Copies a word and replaces \xNN by the byte. NULL: a backslash without \xNN, or a NUL byte. */
static char *unescape(struct token tok)
{
	char *text = xmalloc(tok.size + 1);
	size_t n = 0;

	for (size_t i = 0; i < tok.size; i++) {
		int high = -1, low = -1;

		if (tok.text[i] != '\\') {
			text[n++] = tok.text[i];
			continue;
		}
		if (i + 3 < tok.size && tok.text[i + 1] == 'x') {
			high = hex_digit(tok.text[i + 2]);
			low = hex_digit(tok.text[i + 3]);
		}
		if (high < 0 || low < 0 || high + low == 0) {
			free(text);
			return NULL;
		}
		text[n++] = (char)(high << 4 | low);
		i += 3;
	}
	text[n] = 0;
	if (memchr(text, 0, n)) {
		free(text);
		return NULL;
	}
	return text;
}

/* The rest of the line without surrounding blanks. */
static struct token rest_of(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return (struct token){ at, (size_t)(end - at) };
}

static int begin_line(struct text *t, const char *at, const char *end)
{
	struct token tok, v;
	uint64_t pid;

	while (text_token(&at, end, &tok)) {
		if (text_is(tok, "unfiltered"))
			t->header->flags |= TRACE_UNFILTERED;
		else if (text_is_key(tok, "start", &v) && text_number(v, &t->header->start_time))
			continue;
		else if (text_is_key(tok, "unix", &v) && text_number(v, &t->header->start_unix_ns))
			continue;
		else if (text_is_key(tok, "pid", &v) && text_number(v, &pid) && pid <= UINT32_MAX)
			t->header->pid = (uint32_t)pid;
		else
			return text_bad(t,
					"'begin start=N unix=N pid=N [unfiltered]' does not accept",
					tok);
	}
	return 0;
}

static int thread_line(struct text *t, const char *at, const char *end)
{
	struct token name, tok, v;
	struct reader_thread *thread;
	uint64_t id = 0, *known;

	if (!text_token(&at, end, &name) || catalog_name_split(name.text, name.size) < 0)
		return text_bad(t, "'thread' needs a name (0, 0.1, ~1)", rest_of(at, end));
	known = strmap_find(&t->threads, name.text, name.size);
	while (text_token(&at, end, &tok)) {
		uint64_t low, high;

		if (text_is_key(tok, "id", &v) && text_number(v, &id) && id && id <= UINT32_MAX) {
			if (*name.text == '?' && catalog_name_split(name.text, name.size) == 0 &&
			    strtoull(name.text + 1, NULL, 10) != id)
				return text_bad(t, "the id must be the number of", name);
			if (known ? *known != id : text_thread_add(t, name, id) < 0)
				return known ? text_bad(t, "thread already has another id:", name)
					     : -1;
			known = strmap_find(&t->threads, name.text, name.size);
		} else if (known && text_is_key(tok, "stack", &v) && text_range(v, &low, &high)) {
			thread = catalog_find(t->catalog, (uint32_t)*known);
			thread->stack_low = low;
			thread->stack_high = high;
		} else {
			return text_bad(t, "'thread NAME id=N [stack=LOW-HIGH]' does not accept",
					tok);
		}
	}
	return known ? 0 : text_thread(t, name, &id);
}

static int module_line(struct text *t, const char *at, const char *end)
{
	struct reader_module m = { 0 };
	struct token base, span, id, v, path;
	uint8_t *bytes;
	char *text;

	if (!text_token(&at, end, &base) || !text_number(base, &m.base) ||
	    !text_token(&at, end, &span) || !text_range(span, &m.start, &m.end) ||
	    !text_token(&at, end, &id))
		return text_bad(
			t, "not 'module BASE START-END [t=N] BUILD-ID PATH':", rest_of(at, end));
	if (text_is_key(id, "t", &v) && (!text_number(v, &m.time) || !text_token(&at, end, &id)))
		return text_bad(t, "not a time:", v);
	bytes = xmalloc(id.size / 2);
	if (!text_is(id, "-")) {
		for (size_t i = 0; i < id.size; i++) {
			if (hex_digit(id.text[i]) < 0 || id.size % 2) {
				free(bytes);
				return text_bad(t, "not a build-id:", id);
			}
			bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | hex_digit(id.text[i]));
		}
		m.build_id_size = id.size / 2;
	}
	path = rest_of(at, end);
	text = unescape(path);
	if (text) {
		m.build_id = bytes;
		m.path = text;
		catalog_add_module(t->catalog, &m);
	}
	free(text);
	free(bytes);
	return text ? 0 : text_bad(t, "a backslash must be written \\x5c:", path);
}

static int meta_line(struct text *t, const char *at, const char *end)
{
	struct token key, value;
	char *k, *v;

	if (!text_token(&at, end, &key))
		return text_bad(t, "'meta' needs a key and a value", rest_of(at, end));
	value = rest_of(at, end);
	k = unescape(key);
	v = unescape(value);
	if (k && v)
		catalog_add_meta(t->catalog, k, v);
	free(v);
	free(k);
	return k && v ? 0 : text_bad(t, "a backslash must be written \\x5c:", value);
}

int text_directive(struct text *t, struct token first, const char *at, const char *end)
{
	if (text_is(first, "begin"))
		return begin_line(t, at, end);
	if (text_is(first, "thread"))
		return thread_line(t, at, end);
	if (text_is(first, "module"))
		return module_line(t, at, end);
	if (text_is(first, "meta"))
		return meta_line(t, at, end);
	return text_bad(
		t, "a line begins with a thread (0, 0.1) or with meta, thread, module, begin, not",
		first);
}

/*
 * Words, numbers and thread names of text traces.
 */
#include <string.h>

#include "base/mem.h"
#include "trace/text/text_internal.h"

int text_bad(struct text *t, const char *what, struct token tok)
{
	int shown = tok.size < 60 ? (int)tok.size : 60;

	return err_set(t->err, "line %lu: %s '%.*s'", t->line, what, shown, tok.text);
}

bool text_is(struct token tok, const char *word)
{
	return strlen(word) == tok.size && !memcmp(tok.text, word, tok.size);
}

bool text_is_key(struct token tok, const char *key, struct token *value)
{
	size_t size = strlen(key);

	if (tok.size <= size || memcmp(tok.text, key, size) || tok.text[size] != '=')
		return false;
	*value = (struct token){ tok.text + size + 1, tok.size - size - 1 };
	return true;
}

bool text_number(struct token tok, uint64_t *out)
{
	bool minus = tok.size && *tok.text == '-';
	size_t i = minus;
	uint64_t base = 10, v = 0;

	if (tok.size >= i + 3 && tok.text[i] == '0' && tok.text[i + 1] == 'x') {
		base = 16;
		i += 2;
	}
	if (i == tok.size)
		return false;
	for (; i < tok.size; i++) {
		char c = tok.text[i];
		uint64_t digit = c >= '0' && c <= '9' ? (uint64_t)(c - '0')
			       : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10) : 99;

		if (digit >= base || v > (UINT64_MAX - digit) / base)
			return false;
		v = v * base + digit;
	}
	*out = minus ? -v : v;
	return true;
}

bool text_range(struct token tok, uint64_t *low, uint64_t *high)
{
	const char *dash = memchr(tok.text, '-', tok.size);
	size_t first = dash ? (size_t)(dash - tok.text) : 0;

	return dash && text_number((struct token){ tok.text, first }, low) &&
	       text_number((struct token){ dash + 1, tok.size - first - 1 }, high);
}

bool text_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool text_token(const char **at, const char *end, struct token *tok)
{
	const char *p = *at;

	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	if (p == end || *p == ';' || *p == '#')
		return false;
	tok->text = p;
	while (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != ';')
		p++;
	tok->size = (size_t)(p - tok->text);
	*at = p;
	return true;
}

int text_thread_add(struct text *t, struct token name, uint64_t id)
{
	struct reader_thread *thread;

	if (catalog_find(t->catalog, (uint32_t)id))
		return err_set(t->err, "line %lu: thread id %llu is already '%s'", t->line,
			       (unsigned long long)id,
			       catalog_find(t->catalog, (uint32_t)id)->name);
	thread = catalog_thread(t->catalog, (uint32_t)id);
	thread->name = xstrndup(name.text, name.size);
	*strmap_put(&t->threads, name.text, name.size, NULL) = id;
	return 0;
}

/* A new thread gets the number in a name like "?7", else the first free id. */
int text_thread(struct text *t, struct token name, uint64_t *id)
{
	uint64_t *known = strmap_find(&t->threads, name.text, name.size), parent;
	ptrdiff_t last;

	if (known) {
		*id = *known;
		return 0;
	}
	last = catalog_name_split(name.text, name.size);
	if (last < 0)
		return text_bad(t, "not a thread name (0, 0.1, ~1):", name);
	if (last == 0 && *name.text == '?') {
		text_number((struct token){ name.text + 1, name.size - 1 }, id);
		if (*id == 0)
			return text_bad(t, "thread numbers begin at 1:", name);
		return text_thread_add(t, name, *id);
	}
	/* Parents first, so that main has id 1 even if a child is mentioned before it. */
	if (last > 0 && text_thread(t, (struct token){ name.text, (size_t)last - 1 }, &parent) < 0)
		return -1;
	while (catalog_find(t->catalog, t->next_id))
		t->next_id++;
	*id = t->next_id;
	return text_thread_add(t, name, *id);
}

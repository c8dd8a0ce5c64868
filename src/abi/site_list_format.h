/*
 * Parses a list of sites, which is text: docs/trace-format.md, section 6. Tool and runtime both use
 * this header, so it uses no libc.
 */
#ifndef ABI_SITE_LIST_FORMAT_H
#define ABI_SITE_LIST_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITELIST_NAME "snarl-sites "	/* how lists of all versions begin */
#define SITELIST_MAGIC SITELIST_NAME "1\n"
/* Version 2: lines of sites may end with SITELIST_SHARES. */
#define SITELIST_MAGIC_SHARES SITELIST_NAME "2\n"
#define SITELIST_SHARES "+"
#define SITELIST_END_LINE "end\n"
#define SITELIST_ID_MAX 64u

struct sitelist_line {
	uint8_t id[SITELIST_ID_MAX];
	uint32_t id_size;
	bool has_site;		/* the line names a site; false: it names only a module */
	bool shares;		/* memory that the site is the first to access counts as shared */
	uint64_t offset;	/* pc minus load bias */
};

struct sitelist {
	const char *at, *end;	/* the text that was not read yet */
	bool shares;		/* the version allows SITELIST_SHARES */
	uint64_t lines;		/* number of lines read, for error messages */
	struct sitelist_line last;	/* the last line read */
};

enum sitelist_got { SITELIST_BAD = -1, SITELIST_END, SITELIST_LINE };

/* Skips `word`. False: it does not come next. */
static inline bool sitelist_take(struct sitelist *l, const char *word)
{
	const char *p = l->at;

	while (*word && p < l->end && *p == *word)
		p++, word++;
	if (*word)
		return false;
	l->at = p;
	return true;
}

/* Begins to read. False: the text is no list of sites. */
static inline bool sitelist_open(struct sitelist *l, const char *text, size_t size)
{
	*l = (struct sitelist){ .at = text, .end = text + size, .lines = 1 };
	l->shares = sitelist_take(l, SITELIST_MAGIC_SHARES);
	return l->shares || sitelist_take(l, SITELIST_MAGIC);
}

/* The value of the hexadecimal digit `ahead` characters further on; -1: there is none. */
static inline int sitelist_digit(const struct sitelist *l, size_t ahead)
{
	char c = (size_t)(l->end - l->at) > ahead ? l->at[ahead] : ' ';

	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline int sitelist_compare_ids(const uint8_t *a, size_t a_size, const uint8_t *b,
				       size_t b_size)
{
	for (size_t i = 0; i < a_size && i < b_size; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return a_size == b_size ? 0 : a_size < b_size ? -1 : 1;
}

/* The order of lines: by build-id, the module's own line first, then its sites by offset. */
static inline int sitelist_compare(const struct sitelist_line *a, const struct sitelist_line *b)
{
	int by_id = sitelist_compare_ids(a->id, a->id_size, b->id, b->id_size);

	if (by_id || a->has_site != b->has_site)
		return by_id ? by_id : a->has_site ? 1 : -1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Reads a hexadecimal number. */
static inline bool sitelist_number(struct sitelist *l, uint64_t *value)
{
	int digit = sitelist_digit(l, 0);

	if (digit < 0)
		return false;
	for (*value = 0; digit >= 0; digit = sitelist_digit(l, 0)) {
		if (*value >> 60)
			return false;
		*value = *value << 4 | (unsigned)digit;
		l->at++;
	}
	return true;
}

/*
 * Reads the next line into l->last. A list without its end line, or with a line out of order, is
 * bad.
 */
static inline enum sitelist_got sitelist_next(struct sitelist *l)
{
	struct sitelist_line line = { 0 };

	l->lines++;
	if (sitelist_take(l, SITELIST_END_LINE))
		return l->at == l->end ? SITELIST_END : SITELIST_BAD;
	while (sitelist_digit(l, 0) >= 0) {
		int low = sitelist_digit(l, 1);

		if (low < 0 || line.id_size == SITELIST_ID_MAX)
			return SITELIST_BAD;
		line.id[line.id_size++] = (uint8_t)(sitelist_digit(l, 0) << 4 | low);
		l->at += 2;
	}
	line.has_site = sitelist_take(l, " ");
	if (line.id_size == 0 || (line.has_site && !sitelist_number(l, &line.offset)))
		return SITELIST_BAD;
	line.shares = l->shares && line.has_site && sitelist_take(l, SITELIST_SHARES);
	if (!sitelist_take(l, "\n") || sitelist_compare(&l->last, &line) >= 0)
		return SITELIST_BAD;
	l->last = line;
	return SITELIST_LINE;
}

#endif

#include "wrap/args/args.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void args_take(struct args *a, char *word)
{
	a->v = xgrow(a->v, a->count + 1, &a->room, sizeof(*a->v));
	a->v[a->count++] = word;
	a->v[a->count] = NULL;
}

void args_add(struct args *a, const char *word)
{
	args_take(a, xstrdup(word));
}

void args_addf(struct args *a, const char *format, ...)
{
	va_list list, again;
	char *word;
	int size;

	va_start(list, format);
	va_copy(again, list);
	size = vsnprintf(NULL, 0, format, list) + 1;
	word = xmalloc((size_t)size);
	vsnprintf(word, (size_t)size, format, again);
	va_end(again);
	va_end(list);
	args_take(a, word);
}

void args_add_all(struct args *a, const struct args *more)
{
	for (size_t i = 0; i < more->count; i++)
		args_add(a, more->v[i]);
}

void args_truncate(struct args *a, size_t from)
{
	while (a->count > from) {
		free(a->v[--a->count]);
		a->v[a->count] = NULL;
	}
}

void args_free(struct args *a)
{
	args_truncate(a, 0);
	free(a->v);
	*a = (struct args){ 0 };
}

void args_split(struct args *a, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, " \t\n");

		if (size > 0)
			args_take(a, xstrndup(text, size));
		text += size;
		text += strspn(text, " \t\n");
	}
}

static int is_plain(const char *word)
{
	if (!*word)
		return 0;
	for (; *word; word++)
		if (!isalnum((unsigned char)*word) && !strchr("@%+=:,./_-", *word))
			return 0;
	return 1;
}

char *args_quote(const struct args *a)
{
	size_t room = 1;
	char *text, *p;

	for (size_t i = 0; i < a->count; i++)
		room += 4 * strlen(a->v[i]) + 3;	/* ' becomes '\'' */
	p = text = xmalloc(room);
	for (size_t i = 0; i < a->count; i++) {
		const char *word = a->v[i];

		if (i > 0)
			*p++ = ' ';
		if (is_plain(word)) {
			p = stpcpy(p, word);
			continue;
		}
		*p++ = '\'';
		for (; *word; word++) {
			if (*word == '\'')
				p = stpcpy(p, "'\\''");
			else
				*p++ = *word;
		}
		*p++ = '\'';
	}
	*p = '\0';
	return text;
}

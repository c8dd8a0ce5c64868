#include "report/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *keep(struct pool *p, char *text)
{
	p->items = xgrow(p->items, p->count, &p->capacity, sizeof(*p->items));
	p->items[p->count++] = text;
	return text;
}

void pool_free(struct pool *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct pool){ 0 };
}

const char *pool_text(struct pool *p, const char *text)
{
	return text ? keep(p, xstrdup(text)) : NULL;
}

const char *pool_bytes(struct pool *p, const void *text, size_t size)
{
	char *copy = xmalloc(size + 1);

	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	return keep(p, copy);
}

const char *pool_format(struct pool *p, const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		abort();
	va_end(list);
	return keep(p, text);
}

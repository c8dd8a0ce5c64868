/*
 * Text that lives as long as the whole it belongs to.
 */
#ifndef REPORT_POOL_H
#define REPORT_POOL_H

#include <stddef.h>

/* All zero is an empty one. */
struct pool {
	char **items;
	size_t count, capacity;
};

void pool_free(struct pool *p);
const char *pool_text(struct pool *p, const char *text);	/* NULL stays NULL */
const char *pool_bytes(struct pool *p, const void *text, size_t size);
const char *pool_format(struct pool *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

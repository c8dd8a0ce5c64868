/*
 * A pool of strings that are freed together. All functions return a copy that the pool owns.
 */
#ifndef REPORT_POOL_H
#define REPORT_POOL_H

#include <stddef.h>

/* A zeroed struct is an empty pool. */
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

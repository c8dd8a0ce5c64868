/*
 * Arrays that grow to many gigabytes at most: they begin with a page, so that elements of 64
 * bytes are cache lines, are zero, and move without being copied. From 2 MiB on they are made of
 * huge pages where there are such.
 */
#ifndef BASE_PAGE_ARRAY_H
#define BASE_PAGE_ARRAY_H

#include <stddef.h>

/* From `from` bytes (0: there is none yet) to `to`. Out of memory ends the tool with one line. */
void *pages_grow(void *old, size_t from, size_t to);
void pages_free(void *p, size_t size);

/*
 * Arrays that stay where they are: addresses for `size` bytes, a multiple of 2 MiB, and no memory
 * yet. What is opened, from `from` on to `to`, is as above; whole pages.
 */
void *pages_reserve(size_t size);
void pages_open(void *p, size_t from, size_t to);

/*
 * What was grown or opened from `from` on to `to` will be used soon, most of it: small pages are made
 * at once, for a fraction of what the first use of each costs.
 */
void pages_soon(void *p, size_t from, size_t to);

#endif

/*
 * Zeroed arrays of up to many gigabytes, mapped directly. They grow by mremap(), which moves pages
 * without copying. They begin at a page, so that elements of 64 bytes are cache lines. From 2 MiB
 * on they use huge pages where the kernel has them. If memory runs out, the tool prints one line
 * and aborts.
 */
#ifndef BASE_PAGE_ARRAY_H
#define BASE_PAGE_ARRAY_H

#include <stddef.h>

/* Grows an array of `from` bytes (0: a new one) to `to` bytes, and returns its address. */
void *pages_grow(void *old, size_t from, size_t to);
void pages_free(void *p, size_t size);

/*
 * Arrays that never move: pages_reserve() returns an address range of `size` bytes, a multiple of
 * 2 MiB, without memory. pages_open() makes the bytes from `from` to `to`, whole pages, usable.
 */
void *pages_reserve(size_t size);
void pages_open(void *p, size_t from, size_t to);

/*
 * Announces that most bytes from `from` to `to` will be used soon. Allocates their pages at once,
 * which costs a fraction of the page faults that it avoids. Does nothing if `to` is beyond 2 MiB,
 * since pages are huge there.
 */
void pages_soon(void *p, size_t from, size_t to);

#endif

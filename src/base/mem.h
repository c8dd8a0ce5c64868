/*
 * Allocation that does not fail: out of memory ends the tool with one line.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *old, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t size) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/*
 * Room for one more element: `array` holds `count` of `*capacity` elements of
 * `size` bytes. Returns where the array is now; *capacity at least doubles when
 * it has to move.
 */
void *xgrow(void *array, size_t count, size_t *capacity, size_t size);

/* Makes array[index] be there, of *count elements of `size` bytes; new ones are zero. */
void *xreach(void *array, size_t index, size_t *count, size_t size);

#endif

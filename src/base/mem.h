/*
 * Allocation that never returns NULL: when memory runs out, the tool prints one line and aborts.
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
 * Makes room for one more element in `array`, which holds `count` of `*capacity` elements of `size`
 * bytes each. Returns the array, which may have moved; *capacity at least doubles when it grows.
 */
void *xgrow(void *array, size_t count, size_t *capacity, size_t size);

/*
 * Grows `array` of *count elements of `size` bytes so that array[index] exists; new elements are
 * zeroed.
 */
void *xreach(void *array, size_t index, size_t *count, size_t size);

#endif

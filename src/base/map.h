/*
 * Hash maps: numbers to numbers, and strings to numbers. All zero is an empty
 * map. Entries are never removed. Pointers to values are good until the next put.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t key, value;
};

struct map {
	struct map_entry *entries;	/* a key of 0 marks a free one; key 0 lives apart */
	size_t capacity, used;
	bool has_zero;
	uint64_t zero_value;
};

void map_free(struct map *m);
size_t map_count(const struct map *m);

/* NULL if absent. */
uint64_t *map_find(const struct map *m, uint64_t key);

/* The key's value, 0 if it is new (then *added, which may be NULL, is true). */
uint64_t *map_put(struct map *m, uint64_t key, bool *added);

/* Calls back in no particular order. */
void map_each(const struct map *m, void (*fn)(void *ctx, uint64_t key, uint64_t value), void *ctx);

struct strmap_entry {
	char *key;	/* owned */
	size_t size;
	uint64_t hash, value;
};

struct strmap {
	struct strmap_entry *entries;
	size_t capacity, used;
};

void strmap_free(struct strmap *m);
uint64_t *strmap_find(const struct strmap *m, const char *key, size_t size);
uint64_t *strmap_put(struct strmap *m, const char *key, size_t size, bool *added);

#endif

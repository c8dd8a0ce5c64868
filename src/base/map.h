/*
 * Hash maps from numbers to numbers and from strings to numbers. A zeroed struct is an empty map.
 * Entries are never removed. A pointer to a value is valid until the next put.
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
	struct map_entry *entries;	/* key 0 marks a free entry */
	size_t capacity, used;
	bool has_zero;
	uint64_t zero_value;		/* the value of key 0, if has_zero */
};

void map_free(struct map *m);
size_t map_count(const struct map *m);

/* Returns NULL if the key is absent. */
uint64_t *map_find(const struct map *m, uint64_t key);

/*
 * Returns the key's value, inserting 0 if the key is new. *added, if not NULL, says whether it was.
 */
uint64_t *map_put(struct map *m, uint64_t key, bool *added);

/* Calls `fn` for each entry, in no particular order. */
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

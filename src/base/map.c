/*
 * Open addressing with linear probing, at most half full.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

static uint64_t mix(uint64_t x)
{
	x = hash_scatter(hash_scatter(x));
	return x ^ x >> 32;
}

void map_free(struct map *m)
{
	free(m->entries);
	*m = (struct map){ 0 };
}

size_t map_count(const struct map *m)
{
	return m->used + m->has_zero;
}

static struct map_entry *map_slot(const struct map *m, uint64_t key)
{
	size_t i = mix(key) & (m->capacity - 1);

	while (m->entries[i].key && m->entries[i].key != key)
		i = (i + 1) & (m->capacity - 1);
	return &m->entries[i];
}

static void map_grow(struct map *m)
{
	struct map old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : 16;
	m->entries = xcalloc(m->capacity, sizeof(*m->entries));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].key)
			*map_slot(m, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	struct map_entry *e;

	if (!key)
		return m->has_zero ? (uint64_t *)&m->zero_value : NULL;
	if (!m->used)
		return NULL;
	e = map_slot(m, key);
	return e->key ? &e->value : NULL;
}

uint64_t *map_put(struct map *m, uint64_t key, bool *added)
{
	struct map_entry *e;
	bool is_new;

	if (!key) {
		is_new = !m->has_zero;
		m->has_zero = true;
		if (added)
			*added = is_new;
		return &m->zero_value;
	}
	if (m->used * 2 >= m->capacity)
		map_grow(m);
	e = map_slot(m, key);
	is_new = !e->key;
	if (is_new) {
		e->key = key;
		m->used++;
	}
	if (added)
		*added = is_new;
	return &e->value;
}

void map_each(const struct map *m, void (*fn)(void *ctx, uint64_t key, uint64_t value), void *ctx)
{
	if (m->has_zero)
		fn(ctx, 0, m->zero_value);
	for (size_t i = 0; i < m->capacity; i++)
		if (m->entries[i].key)
			fn(ctx, m->entries[i].key, m->entries[i].value);
}

void strmap_free(struct strmap *m)
{
	for (size_t i = 0; i < m->capacity; i++)
		free(m->entries[i].key);
	free(m->entries);
	*m = (struct strmap){ 0 };
}

static struct strmap_entry *strmap_slot(const struct strmap *m, const char *key, size_t size,
					 uint64_t hash)
{
	size_t i = hash & (m->capacity - 1);

	for (;; i = (i + 1) & (m->capacity - 1)) {
		struct strmap_entry *e = &m->entries[i];

		if (!e->key)
			return e;
		if (e->hash == hash && e->size == size && !memcmp(e->key, key, size))
			return e;
	}
}

static void strmap_grow(struct strmap *m)
{
	struct strmap old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : 16;
	m->entries = xcalloc(m->capacity, sizeof(*m->entries));
	for (size_t i = 0; i < old.capacity; i++) {
		struct strmap_entry *e = &old.entries[i];

		if (e->key)
			*strmap_slot(m, e->key, e->size, e->hash) = *e;
	}
	free(old.entries);
}

uint64_t *strmap_find(const struct strmap *m, const char *key, size_t size)
{
	struct strmap_entry *e;

	if (!m->used)
		return NULL;
	e = strmap_slot(m, key, size, mix(hash_bytes(HASH_START, key, size)));
	return e->key ? &e->value : NULL;
}

uint64_t *strmap_put(struct strmap *m, const char *key, size_t size, bool *added)
{
	uint64_t hash = mix(hash_bytes(HASH_START, key, size));
	struct strmap_entry *e;
	bool is_new;

	if (m->used * 2 >= m->capacity)
		strmap_grow(m);
	e = strmap_slot(m, key, size, hash);
	is_new = !e->key;
	if (is_new) {
		e->key = xmalloc(size + 1);
		memcpy(e->key, key, size);
		e->key[size] = 0;
		e->size = size;
		e->hash = hash;
		m->used++;
	}
	if (added)
		*added = is_new;
	return &e->value;
}

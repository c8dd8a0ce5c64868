/*
 * For history.c: where a line's blocks are found. The first thread of a line has its slot by the
 * line alone: memory that only one thread uses needs no other.
 */
#ifndef ANALYZE_HISTORY_SLOTS_H
#define ANALYZE_HISTORY_SLOTS_H

#include "analyze/history.h"

/* Addresses have 48 bits, threads 20. The lowest bit: not the line's first thread. */
#define OTHER 1ull
#define THREADS (((1ull << 20) - 1) << 1)

static inline uint64_t key_of(uint64_t line, uint32_t thread)
{
	return line << 21 | (uint64_t)thread << 1;
}

/*
 * Four lines side by side have slots side by side. Lines go by even steps: one multiplication
 * leaves crowds.
 */
static inline uint64_t line_start(uint64_t key)
{
	uint64_t hash = (key >> 23) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return (hash >> 30 & ~3ull) | (key >> 21 & 3);
}

/* From there to the slot of one that is not the first. */
static inline uint64_t other_step(uint64_t key)
{
	return ((key & THREADS) * 0x9e3779b97f4a7c15ull >> 30 & ~3ull) + 4;
}

/* Of the line's first thread, whichever. */
static inline struct history_slot *slot_of_line(const struct history *h, uint64_t key)
{
	size_t i = line_start(key) & (h->slot_count - 1);

	while (h->slots[i].key && ((h->slots[i].key ^ key) & ~THREADS))
		i = (i + 1) & (h->slot_count - 1);
	return &h->slots[i];
}

static inline struct history_slot *slot_of_other(const struct history *h, uint64_t key)
{
	size_t i = (line_start(key) + other_step(key)) & (h->slot_count - 1);

	while (h->slots[i].key && h->slots[i].key != (key | OTHER))
		i = (i + 1) & (h->slot_count - 1);
	return &h->slots[i];
}

static inline struct history_slot *slot_place(const struct history *h, uint64_t key)
{
	return key & OTHER ? slot_of_other(h, key) : slot_of_line(h, key);
}

/* The key must be new, and `s` its slot_place(). Good until the next one. */
struct history_slot *history_slot_add(struct history *h, struct history_slot *s, uint64_t key,
				      uint32_t block, uint32_t share);

#endif

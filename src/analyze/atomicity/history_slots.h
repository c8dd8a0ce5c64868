/*
 * For history.c: where a line's blocks are found. The first thread of a line has its slot by the
 * line alone: memory that only one thread uses needs no other.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_SLOTS_H
#define ANALYZE_ATOMICITY_HISTORY_SLOTS_H

#include "analyze/atomicity/history.h"
#include "base/hash.h"

/* Line and thread. Addresses have 48 bits, threads 20. */
static inline uint64_t key_of(uint64_t line, uint32_t thread)
{
	return line << 20 | thread;
}

static inline uint64_t line_of(uint64_t key)
{
	return key >> 20;
}

static inline uint32_t thread_of(uint64_t key)
{
	return key & ((1u << 20) - 1);
}

/*
 * A slot holds the number of a block (SLOT_BLOCK bits) and, above it, bits of the key's hash. The table uses as many
 * of these as it has slots to find the place; the others tell most foreign keys, and the block tells the rest.
 */
#define SLOT_BLOCK 24

static inline uint32_t slot_block(uint64_t slot)
{
	return slot & ((1u << SLOT_BLOCK) - 1);
}

static inline uint64_t slot_start(uint64_t slot)
{
	return slot >> SLOT_BLOCK;
}

/*
 * Four lines side by side have slots side by side. Lines go by even steps: one multiplication
 * leaves crowds.
 */
static inline uint64_t line_start(uint64_t key)
{
	uint64_t hash = hash_scatter(hash_spread(key >> 22));

	return (hash >> 30 & ~3ull) | (line_of(key) & 3);
}

/* From there to the slot of one that is not the first. */
static inline uint64_t other_step(uint64_t key)
{
	return (hash_spread(thread_of(key)) >> 30 & ~3ull) + 4;
}

static inline struct history_prefetched *prefetched_at(struct history *h, uint64_t key)
{
	return &h->prefetched[(hash_spread(key) >> 32) % HISTORY_PREFETCHED];
}

static inline bool slot_is(const struct history *h, uint64_t slot, uint64_t start, uint64_t line)
{
	return slot_start(slot) == start && h->blocks[slot_block(slot)].line == line;
}

/* Of the line's first thread, whichever; or a free one for it. */
static inline uint64_t *slot_of_line(const struct history *h, uint64_t key)
{
	uint64_t start = line_start(key), *s;

	for (uint64_t i = start;; i++) {
		s = &h->slots[i & (h->slot_count - 1)];
		if (!*s || (slot_is(h, *s, start, line_of(key)) &&
			    h->blocks[slot_block(*s)].leader == slot_block(*s)))
			return s;
	}
}

/* Of one that is not. */
static inline uint64_t *slot_of_other(const struct history *h, uint64_t key)
{
	uint64_t start = line_start(key) + other_step(key), *s;

	for (uint64_t i = start;; i++) {
		s = &h->slots[i & (h->slot_count - 1)];
		if (!*s || (slot_is(h, *s, start, line_of(key)) &&
			    h->blocks[slot_block(*s)].thread == thread_of(key) &&
			    h->blocks[slot_block(*s)].leader != slot_block(*s)))
			return s;
	}
}

/* It must be new, and `s` the free one where it belongs. */
void history_slot_add(struct history *h, uint64_t *s, uint64_t start, uint32_t block);

#endif

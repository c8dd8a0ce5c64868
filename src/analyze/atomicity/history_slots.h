/*
 * For history.c: the hash table that finds a thread's block of a line. The slot of a line's first
 * thread is found by the line alone, because most memory is used by one thread. Blocks of the other
 * threads are found by line and thread.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_SLOTS_H
#define ANALYZE_ATOMICITY_HISTORY_SLOTS_H

#include "analyze/atomicity/history.h"
#include "base/hash.h"

/* Packs line and thread. Addresses have 48 bits, thread numbers 20. */
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
 * A slot holds a block number in its low SLOT_BLOCK bits, and above it bits of the key's hash. The
 * lower of these choose the slot; the others rule out most other keys. The block decides.
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
 * Returns the hash of a line. Four adjacent lines get adjacent slots. The hash is scattered twice:
 * lines often have even distances, which one multiplication would map to clusters.
 */
static inline uint64_t line_start(uint64_t key)
{
	uint64_t hash = hash_scatter(hash_spread(key >> 22));

	return (hash >> 30 & ~3ull) | (line_of(key) & 3);
}

/* Distance from line_start() to the first slot of a thread that is not the line's first. */
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

/* Returns the slot of the line's first thread, whichever that is, or the free slot for it. */
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

/* Returns the slot of a thread that is not the line's first, or the free slot for it. */
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

/* Adds a block that is not in the table. `s` is the free slot for it. */
void history_slot_add(struct history *h, uint64_t *s, uint64_t start, uint32_t block);

#endif

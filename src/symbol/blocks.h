/*
 * Pieces of memory that do not overlap, found by any address within: heap
 * blocks, mappings, stacks. A balanced tree, fast with millions of them.
 */
#ifndef SYMBOL_BLOCKS_H
#define SYMBOL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
	uint64_t low, high;	/* [low, high) */
	uint64_t start;		/* where it began before its head was cut off */
	uint64_t size;		/* as it was at first */
	uint32_t site, order;	/* the owner's business, as is all below */
	uint32_t thread, thread_order;
	bool gone;		/* given back; what it was is still worth knowing */

	uint32_t priority, left, right;	/* the tree's */
};

/* Zeroed is empty. Pointers to blocks are good until the next insert or remove. */
struct blocks {
	struct block *nodes;	/* 0 is nobody */
	size_t count, capacity;
	uint32_t root, spare, last;
};

/* NULL if the address is in none. */
struct block *blocks_find(struct blocks *b, uint64_t addr);

/* A new block takes the place of whatever overlaps it. low < high. */
struct block *blocks_insert(struct blocks *b, uint64_t low, uint64_t high);

/* Cuts [low, high) out of all that overlaps it. */
void blocks_remove(struct blocks *b, uint64_t low, uint64_t high);

void blocks_free(struct blocks *b);

#endif

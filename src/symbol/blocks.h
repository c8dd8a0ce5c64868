/*
 * A set of memory ranges that do not overlap (heap blocks, mappings, stacks), found by any address
 * in them. A balanced tree: each operation takes logarithmic time, with millions of ranges.
 */
#ifndef SYMBOL_BLOCKS_H
#define SYMBOL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
	uint64_t low, high;	/* [low, high) */
	uint64_t start;		/* `low` when it was inserted, before parts were removed */
	uint64_t size;		/* its size when it was inserted */

	/* Data of the caller, zero after an insert; meaning as in struct object. */
	uint32_t place, order;	/* place: index of the place of allocation */
	uint32_t thread, thread_order;
	bool gone;

	uint32_t priority, left, right;	/* private to the tree */
};

/* A zeroed struct is an empty set. Pointers to blocks are valid until the next insert or remove. */
struct blocks {
	struct block *nodes;	/* nodes[0] is not used: index 0 means no node */
	size_t count, capacity;
	uint32_t root;
	uint32_t free_list;	/* unused nodes, linked by `left` */
	uint32_t last_found;	/* result of the last blocks_find(): looked at first */
};

/* Returns the block that contains the address, or NULL. */
struct block *blocks_find(struct blocks *b, uint64_t addr);

/* Removes [low, high), which is not empty, from all blocks, and inserts a new block there. */
struct block *blocks_insert(struct blocks *b, uint64_t low, uint64_t high);

/* Removes [low, high) from all blocks; a block may become shorter or be split in two. */
void blocks_remove(struct blocks *b, uint64_t low, uint64_t high);

void blocks_free(struct blocks *b);

#endif

/*
 * A treap (Seidel and Aragon, 1996): a search tree by address that is also a heap by pseudo-random
 * priorities. Its expected depth is logarithmic in any order of inserts. Priorities come from the
 * index of a node, so that runs of the tool are reproducible.
 */
#include "symbol/blocks.h"

#include <stdlib.h>

#include "base/mem.h"

static uint32_t scramble(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

static uint32_t alloc_node(struct blocks *b)
{
	uint32_t n = b->free_list;

	if (n) {
		b->free_list = b->nodes[n].left;
	} else {
		if (b->count == 0)
			b->count = 1;
		b->nodes = xgrow(b->nodes, b->count, &b->capacity, sizeof(*b->nodes));
		n = (uint32_t)b->count++;
	}
	b->nodes[n] = (struct block){ .priority = scramble(n) };
	return n;
}

static void free_tree(struct blocks *b, uint32_t n)
{
	while (n) {
		uint32_t right = b->nodes[n].right;

		free_tree(b, b->nodes[n].left);
		b->nodes[n].low = b->nodes[n].high = 0;	/* b->last_found may still be this node */
		b->nodes[n].left = b->free_list;
		b->free_list = n;
		n = right;
	}
}

/* Splits tree `n`: blocks that start before `key` go to *left, the others to *right. */
static void split(struct blocks *b, uint32_t n, uint64_t key, uint32_t *left, uint32_t *right)
{
	while (n) {
		struct block *node = &b->nodes[n];

		if (node->low < key) {
			*left = n;
			left = &node->right;
			n = node->right;
		} else {
			*right = n;
			right = &node->left;
			n = node->left;
		}
	}
	*left = *right = 0;
}

/* Joins two trees; all blocks of `left` are before those of `right`. */
static uint32_t merge(struct blocks *b, uint32_t left, uint32_t right)
{
	uint32_t root, *at = &root;

	while (left && right) {
		if (b->nodes[left].priority >= b->nodes[right].priority) {
			*at = left;
			at = &b->nodes[left].right;
			left = *at;
		} else {
			*at = right;
			at = &b->nodes[right].left;
			right = *at;
		}
	}
	*at = left ? left : right;
	return root;
}

/* Returns the last block that starts at or before addr. */
static uint32_t find_before(const struct blocks *b, uint64_t addr)
{
	uint32_t n = b->root, best = 0;

	while (n) {
		if (b->nodes[n].low <= addr) {
			best = n;
			n = b->nodes[n].right;
		} else {
			n = b->nodes[n].left;
		}
	}
	return best;
}

static bool covers(const struct block *block, uint64_t addr)
{
	return addr >= block->low && addr < block->high;
}

struct block *blocks_find(struct blocks *b, uint64_t addr)
{
	uint32_t n = b->last_found;

	if (n && covers(&b->nodes[n], addr))
		return &b->nodes[n];
	n = find_before(b, addr);
	if (!n || !covers(&b->nodes[n], addr))
		return NULL;
	b->last_found = n;
	return &b->nodes[n];
}

/* Returns a copy of `from` that begins at `low` and is not yet in the tree. */
static uint32_t copy_tail(struct blocks *b, uint32_t from, uint64_t low)
{
	uint32_t n = alloc_node(b), priority = b->nodes[n].priority;

	b->nodes[n] = b->nodes[from];
	b->nodes[n].low = low;
	b->nodes[n].priority = priority;
	b->nodes[n].left = b->nodes[n].right = 0;
	return n;
}

void blocks_remove(struct blocks *b, uint64_t low, uint64_t high)
{
	uint32_t left, middle, right, before, last, tail = 0;

	if (low >= high || !b->root)
		return;
	before = low > 0 ? find_before(b, low - 1) : 0;
	if (before && b->nodes[before].high > low) {
		if (b->nodes[before].high > high)
			tail = copy_tail(b, before, high);
		b->nodes[before].high = low;
	}
	split(b, b->root, low, &left, &right);
	split(b, right, high, &middle, &right);
	for (last = middle; last && b->nodes[last].right;)
		last = b->nodes[last].right;
	if (last && b->nodes[last].high > high)
		tail = copy_tail(b, last, high);
	free_tree(b, middle);
	b->root = merge(b, merge(b, left, tail), right);
}

struct block *blocks_insert(struct blocks *b, uint64_t low, uint64_t high)
{
	uint32_t n = find_before(b, low), left, right;

	/* Allocators often return the same block again, which needs no change of the tree. */
	if (n && b->nodes[n].low == low && b->nodes[n].high == high) {
		struct block *old = &b->nodes[n];

		*old = (struct block){
			.low = low, .high = high, .priority = old->priority,
			.left = old->left, .right = old->right,
		};
	} else {
		blocks_remove(b, low, high);
		n = alloc_node(b);
		b->nodes[n].low = low;
		b->nodes[n].high = high;
		split(b, b->root, low, &left, &right);
		b->root = merge(b, merge(b, left, n), right);
	}
	b->nodes[n].start = low;
	b->nodes[n].size = high - low;
	return &b->nodes[n];
}

void blocks_free(struct blocks *b)
{
	free(b->nodes);
	*b = (struct blocks){ 0 };
}

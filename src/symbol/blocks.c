/*
 * A treap: a search tree by address that is a heap by a priority scrambled
 * from a counter, so that its depth stays logarithmic whatever the order.
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

static uint32_t take_node(struct blocks *b)
{
	uint32_t n = b->spare;

	if (n) {
		b->spare = b->nodes[n].left;
	} else {
		if (b->count == 0)
			b->count = 1;
		b->nodes = xgrow(b->nodes, b->count, &b->capacity, sizeof(*b->nodes));
		n = (uint32_t)b->count++;
	}
	b->nodes[n] = (struct block){ .priority = scramble(n) };
	return n;
}

static void drop_tree(struct blocks *b, uint32_t n)
{
	while (n) {
		uint32_t right = b->nodes[n].right;

		drop_tree(b, b->nodes[n].left);
		b->nodes[n].low = b->nodes[n].high = 0;	/* b->last may still point here */
		b->nodes[n].left = b->spare;
		b->spare = n;
		n = right;
	}
}

/* Those that start before `key` go left. */
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

/* The last one that starts at or before addr. */
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
	uint32_t n = b->last;

	if (n && covers(&b->nodes[n], addr))
		return &b->nodes[n];
	n = find_before(b, addr);
	if (!n || !covers(&b->nodes[n], addr))
		return NULL;
	b->last = n;
	return &b->nodes[n];
}

/* A copy of `from` that begins at `low`; not in the tree yet. */
static uint32_t tail_of(struct blocks *b, uint32_t from, uint64_t low)
{
	uint32_t n = take_node(b), priority = b->nodes[n].priority;

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
			tail = tail_of(b, before, high);
		b->nodes[before].high = low;
	}
	split(b, b->root, low, &left, &right);
	split(b, right, high, &middle, &right);
	for (last = middle; last && b->nodes[last].right;)
		last = b->nodes[last].right;
	if (last && b->nodes[last].high > high)
		tail = tail_of(b, last, high);
	drop_tree(b, middle);
	b->root = merge(b, merge(b, left, tail), right);
}

struct block *blocks_insert(struct blocks *b, uint64_t low, uint64_t high)
{
	uint32_t n = find_before(b, low), left, right;

	/* Allocators like to give the same piece again: no need to move anything. */
	if (n && b->nodes[n].low == low && b->nodes[n].high == high) {
		struct block *old = &b->nodes[n];

		*old = (struct block){
			.low = low, .high = high, .priority = old->priority,
			.left = old->left, .right = old->right,
		};
	} else {
		blocks_remove(b, low, high);
		n = take_node(b);
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
